import { namesIn } from "../../core/classifier/providers.js";

/** Domains that give away names below them; lists mean those names. Compared with lists in November 2026. */
export const zones = namesIn(`
  1337.cx 25u.com 2bd.net 3-a.net 42web.io 4pu.com 900k.es abc1.ch abuser.eu acmetoy.com allen.nom.za
  apps.dj arduino.hk asso.st awiki.org badgerland.eu bot.nu boxnavi.com cakk.us cc.cd ccwu.cc cdpa.cc
  ceed.se chickenkiller.com civvic.ro cleansite.us cnew.ir de-a.org deps.cf dob.jp dpdns.org dynamic-dns.net
  efxs.ca epizy.com esy.es eu.cc ezua.com faithkills.com fido.be fr.nf freetcp.com ftp.sh fxnxs.com gally.jp
  gettrials.com greenst.info heliohost.org hmail.us hpc.tw hs.vc hunnur.com i-taiwan.tv idigo.org
  ignorelist.com ind.st infos.st jo3.org jpco.org justdied.com jwork.ru k4ds.org klipp.su kro.kr l5.ca
  lain.ch ldop.com ldtp.com lee.mx linkpc.net longmusic.com mefound.com mji.ro mooo.com moot.es moza.pl
  mr24.co my.to myddns.me myz.info nm7.cc ns01.biz ocry.com okzk.com otzo.com ourhobby.com pii.at
  publicvm.com qc.to qd.je qpoe.com qzz.io ra3.us rabin.ca reptilegenetics.com rf.gd run.place scay.net
  sino.tw somee.com soon.it sryze.cc strangled.net thex.ro toh.info twilightparadox.com uk.to unaux.com
  undo.it unids.com us.to vankin.de viewdns.net watersportsmegastore.com wawi.es work.gd wxnw.net
  wyvernia.net x24hr.com yasser.ru ycare.de ydns.eu ygto.com youdontcare.com ze.cx zyns.com zzux.com
`);

/** Zones of the public suffix list whose names people use for years, although some of the names are listed. */
export const settledZones: readonly string[] = ["eu.org", "dedyn.io"];
