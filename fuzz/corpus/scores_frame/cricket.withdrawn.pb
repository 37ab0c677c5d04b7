
ƒ¸ü¾½demo2Åƒ°É:1f3a-7@JG
EIron Bridge FoxesSalt Bay Herons F(29.08·@œJIBF 70/2 (9.0)º
scorer_error‚Åƒ°É