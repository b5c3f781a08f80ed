/** Domains of providers that certainly receive mail. The library for browsers has no use for them. */
import { majorProviders, namesIn } from "./providers.js";

export const familyDomains = namesIn(`
  outlook.com hotmail.com live.com outlook.de outlook.fr outlook.es outlook.it outlook.jp outlook.com.br
  outlook.co.th outlook.in outlook.ie outlook.pt hotmail.co.uk hotmail.fr hotmail.de hotmail.it
  hotmail.es hotmail.be hotmail.nl hotmail.com.br live.co.uk live.fr live.nl live.de live.it live.ca
  live.com.au live.se yahoo.com yahoo.co.uk yahoo.co.jp yahoo.co.in yahoo.in yahoo.fr yahoo.de yahoo.it
  yahoo.es yahoo.ca yahoo.com.br yahoo.com.mx yahoo.com.ar yahoo.com.au yahoo.com.tw yahoo.com.hk
  yahoo.com.sg yahoo.com.ph yahoo.co.id yahoo.co.nz yahoo.co.kr yahoo.gr yahoo.ie yahoo.se yahoo.dk
  yahoo.no yahoo.ro yahoo.pl aol.com aol.co.uk aol.de aol.fr gmx.de gmx.net gmx.com gmx.at gmx.ch gmx.fr
  gmx.us gmx.co.uk gmx.es gmx.it gmx.org gmx.info gmx.biz gmx.eu tutanota.com tutanota.de tuta.io
  tuta.com yandex.ru yandex.com yandex.by yandex.kz yandex.ua
`);

export const ispProviders = namesIn(`
  verizon.net t-online.de magenta.de arcor.de vodafone.de docomo.ne.jp ezweb.ne.jp au.com softbank.ne.jp
  i.softbank.jp nifty.com ocn.ne.jp so-net.ne.jp biglobe.ne.jp tiscali.it tin.it alice.it tim.it
  fastwebnet.it orange.fr wanadoo.fr free.fr sfr.fr neuf.fr bbox.fr numericable.fr voila.fr telenet.be
  skynet.be proximus.be ziggo.nl kpnmail.nl planet.nl xs4all.nl home.nl chello.nl hetnet.nl upcmail.nl
  bluewin.ch hispeed.ch sunrise.ch aon.at chello.at t-online.hu online.no getmail.no telia.com comhem.se
  bredband.net mail.dk tdcadsl.dk stofanet.dk saunalahti.fi kolumbus.fi clix.pt terra.es telefonica.net
  ono.com comcast.net xfinity.com att.net sbcglobal.net bellsouth.net pacbell.net ameritech.net
  swbell.net cox.net charter.net spectrum.net rr.com roadrunner.com twc.com earthlink.net mindspring.com
  optonline.net optimum.net frontier.com frontiernet.net windstream.net centurylink.net centurytel.net
  embarqmail.com q.com suddenlink.net hughes.net btinternet.com btopenworld.com bt.com talktalk.net
  tiscali.co.uk virginmedia.com ntlworld.com blueyonder.co.uk sky.com plusnet.com o2.co.uk orange.net
  eircom.net shaw.ca telus.net rogers.com bell.net sympatico.ca videotron.ca bigpond.com bigpond.net.au
  optusnet.com.au iinet.net.au tpg.com.au westnet.com.au internode.on.net xtra.co.nz slingshot.co.nz
  telkomsa.net mweb.co.za vodamail.co.za bezeqint.net netvision.net.il 012.net.il ttmail.com turk.net
  emirates.net.ae
`);

const known: ReadonlySet<string> = new Set([...majorProviders, ...familyDomains, ...ispProviders]);

/** Excludes vanity domains and privacy providers: some of them were given up and need a DNS query. */
export const isKnownProvider = (ascii: string): boolean => known.has(ascii);
