
”λάdemo2φ―Ι:1f3a-7J<
:Salt Bay HeronsIron Bridge Foxes20.0JSBH 0/0 (0.0)Ά&$
Salt Bay HeronsIron Bridge Foxes‚φ―Ι