
äþ¾½demo2Åƒ°É:1f3a-7JG
EIron Bridge FoxesSalt Bay Herons F(29.08·@œJIBF 70/2 (9.0)¢B
W Pike‚Åƒ°É