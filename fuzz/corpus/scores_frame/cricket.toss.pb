
ƒdemo2ö¯É:1f3a-7J
20.0J	SBH v IBF¢I
G
Salt Bay Herons
Iron Bridge FoxesIron Bridge Foxesfield (2T20‚ö¯É