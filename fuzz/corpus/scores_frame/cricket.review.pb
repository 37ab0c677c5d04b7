
τ¨¨έdemo2αφ―Ι:1f3a-7JA
?Salt Bay HeronsIron Bridge Foxes 21.28JSBH 11/0 (1.2)Ά/"-
Iron Bridge FoxesA Fennimore	L Marlowe ‚αφ―Ι