
£™òdemo2öö¯É:1f3a-7J<:

Lowmoor United
Kestrel Park23:10"LU 1 â€“ 0 KPR
	A Delaneyr23:10z$Goal: A Delaney, 1 â€“ 0öö¯É‚öö¯É