
{È…‹âdemo2¾û¯É:1f3a-7JE
CSalt Bay HeronsIron Bridge Foxes b(212.08LJSBH 98/1 (12.0)¢
*
rain‚¾û¯É