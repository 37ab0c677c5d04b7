
x¡œdemo2šö¯É:1f3a-7J97

Lowmoor United
Kestrel Park0:00"LU 0 â€“ 0 KPZ

first_halfr0:00‚šö¯É