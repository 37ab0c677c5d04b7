
Š¡–demo2¨ø¯É:1f3a-7J><

Lowmoor United
Kestrel Park59:30"LU 1 â€“ 1 KPj
J CorrinL Bastowr59:30‚¨ø¯É