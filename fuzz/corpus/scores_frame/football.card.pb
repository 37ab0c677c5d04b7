
¡‘Èdemo2Êö¯É:1f3a-7J:8

Lowmoor United
Kestrel Park12:04"LU 0 â€“ 0 KPª
J Corrinyellowr12:04zyellow: J CorrinÊö¯É‚Êö¯É