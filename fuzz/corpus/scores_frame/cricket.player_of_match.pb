
¢Ğ¸á˜demo2ˆ°É:1f3a-7Jk
iIron Bridge FoxesSalt Bay Herons ‘(220.08û@œJIBF 145/8 (20.0)RSalt Bay Herons won by 10 runs¢
Z
R Venn‚ˆ°É