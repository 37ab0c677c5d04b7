
‘θ›λάdemo2¤φ―Ι:1f3a-7J@
>Salt Bay HeronsIron Bridge Foxes 20.18JSBH 1/0 (0.1)Ά%#
	L Marlowe	T Okander	O Sandrin ‚¤φ―Ι