
¾ ³ëÜdemo2¼ö¯É:1f3a-7J@
>Salt Bay HeronsIron Bridge Foxes 	20.48JSBH 9/0 (0.4)¢%#
	T Okander	L Marlowe	O Sandrin z+	Four by T Okander off O Sandrin¼ö¯É‚¼ö¯É