
}À£™¹demo2·ÿ¯É:1f3a-7JH
FSalt Bay HeronsIron Bridge Foxes ›(220.08€JSBH 155/2 (20.0)¢	J
overs‚·ÿ¯É