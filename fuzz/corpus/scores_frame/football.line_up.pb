
‹‘Ndemo2ö¯É:1f3a-7J97

Lowmoor United
Kestrel Park0:00"LU 0 â€“ 0 KPj 

Lowmoor UnitedKestrel Parkr0:00‚ö¯É