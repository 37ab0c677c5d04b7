
¬šòdemo2®÷¯É:1f3a-7@J<:

Lowmoor United
Kestrel Park35:01"LU 1 â€“ 0 KPb
var_offsider35:01z)No goal: var_offside, 1 â€“ 0¦÷¯É‚®÷¯É