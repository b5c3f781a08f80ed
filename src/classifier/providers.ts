/**
 * Mail domains of known providers and relays, lower case, ASCII. Data only; the rules are in `rules/`. Sources: the
 * providers' own lists of domains (2026-11), and the documentation of the relays.
 */

const names = (block: string): readonly string[] => block.trim().split(/\s+/);

export const majorProviders = names(`
  gmail.com googlemail.com outlook.com hotmail.com live.com msn.com outlook.de outlook.fr outlook.es
  outlook.it outlook.jp outlook.com.br outlook.co.th outlook.in outlook.ie outlook.pt hotmail.co.uk
  hotmail.fr hotmail.de hotmail.it hotmail.es hotmail.be hotmail.nl hotmail.com.br live.co.uk live.fr
  live.nl live.de live.it live.ca live.com.au live.se passport.com windowslive.com yahoo.com yahoo.co.uk
  yahoo.co.jp yahoo.co.in yahoo.in yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.ca yahoo.com.br
  yahoo.com.mx yahoo.com.ar yahoo.com.au yahoo.com.tw yahoo.com.hk yahoo.com.sg yahoo.com.ph yahoo.co.id
  yahoo.co.nz yahoo.co.kr yahoo.gr yahoo.ie yahoo.se yahoo.dk yahoo.no yahoo.ro yahoo.pl ymail.com
  rocketmail.com myyahoo.com aol.com aol.co.uk aol.de aol.fr aim.com icloud.com me.com mac.com gmx.de
  gmx.net gmx.com gmx.at gmx.ch gmx.fr gmx.us gmx.co.uk gmx.es gmx.it gmx.org gmx.info gmx.biz gmx.eu
  web.de email.de mail.com freenet.de posteo.de posteo.net mailbox.org proton.me protonmail.com
  protonmail.ch pm.me tutanota.com tutanota.de tuta.io tuta.com tutamail.com keemail.me hey.com
  fastmail.com fastmail.fm fastmail.to sent.com messagingengine.com zoho.com zohomail.com zoho.eu
  zoho.in mail.ru bk.ru list.ru inbox.ru internet.ru yandex.ru yandex.com ya.ru yandex.by yandex.kz
  yandex.ua rambler.ru lenta.ru autorambler.ru myrambler.ru ro.ru ukr.net i.ua meta.ua bigmir.net qq.com
  foxmail.com vip.qq.com 163.com 126.com yeah.net vip.163.com 188.com sina.com sina.cn sohu.com 139.com
  189.cn wo.cn 21cn.com tom.com aliyun.com naver.com daum.net hanmail.net nate.com kakao.com
  rediffmail.com indiatimes.com in.com libero.it virgilio.it inwind.it iol.it laposte.net wp.pl o2.pl
  onet.pl interia.pl poczta.onet.pl op.pl vp.pl gazeta.pl tlen.pl go2.pl seznam.cz email.cz centrum.cz
  post.cz atlas.cz azet.sk zoznam.sk centrum.sk freemail.hu citromail.hu indamail.hu abv.bg mail.bg
  dir.bg inbox.lv inbox.lt mail.ee spray.se luukku.com suomi24.fi sapo.pt iol.pt terra.com.br uol.com.br
  bol.com.br ig.com.br globo.com globomail.com r7.com juno.com netzero.net netzero.com webmail.co.za
  walla.co.il walla.com mynet.com inbox.com lycos.com excite.com excite.it myway.com usa.net care2.com
`);

/** Vanity domains of mail.com: public mailboxes at domains that look like domains of companies. */
export const mailcomDomains = names(`
  email.com usa.com post.com europe.com asia.com consultant.com engineer.com writeme.com dr.com
  cheerful.com accountant.com techie.com myself.com iname.com contractor.net linuxmail.org
`);

/** Domains at which Fastmail offers addresses. `anything@ann.DOMAIN` reaches `ann@DOMAIN`, too. */
export const fastmailDomains = names(`
  fastmail.com fastmail.fm fastmail.to sent.com
  123mail.org 150mail.com 16mail.com 2-mail.com 4email.net 50mail.com airpost.net allmail.net cluemail.com
  elitemail.org emailcorner.net emailengine.net emailengine.org emailgroups.net emailplus.org emailuser.net
  eml.cc f-m.fm fast-email.com fast-mail.org fastem.com fastemail.us fastemailer.com fastest.cc
  fastimap.com fastmail.cn fastmail.co.uk fastmail.com.au fastmail.es fastmail.im fastmail.in fastmail.jp
  fastmail.mx fastmail.net fastmail.nl fastmail.se fastmail.tw fastmail.us fastmailbox.net
  fastmessaging.com fea.st fmail.co.uk fmailbox.com fmgirl.com fmguy.com ftml.net h-mail.us hailmail.net
  imap-mail.com imap.cc imapmail.org inoutbox.com internet-e-mail.com internet-mail.org internetemails.net
  internetmailing.net jetemail.net justemail.net letterboxes.org mail-central.com mail-page.com
  mailandftp.com mailas.com mailbolt.com mailc.net mailcan.com mailforce.net mailftp.com mailhaven.com
  mailingaddress.org mailite.com mailmight.com mailnew.com mailsent.net mailservice.ms mailup.net
  mailworks.org ml1.net mm.st myfastmail.com mymacmail.com ownmail.net petml.com postinbox.com postpro.net
  proinbox.com promessage.com realemail.net reallyfast.biz reallyfast.info rushpost.com sent.as sent.at
  speedpost.net speedymail.org ssl-mail.com swift-mail.com the-fastest.net the-quickest.com
  theinternetemail.com veryfast.biz veryspeedy.net warpmail.net xsmail.com yepmail.net your-mail.com
`);

/**
 * More domains at which mail.com and Fastmail offer addresses. Real people use them: they are neither disposable nor typos.
 */
export const offeredDomains = [
  ...fastmailDomains,
  ...names(`
    activist.com adexec.com africamail.com aircraftmail.com allergist.com alumni.com alumnidirector.com
    angelic.com appraiser.net archaeologist.com arcticmail.com artlover.com atheist.com auctioneer.net
    australiamail.com bartender.net bellair.net berlin.com bikerider.com birdlover.com blader.com
    boardermail.com brazilmail.com brew-master.com brew-meister.com bsdmail.com californiamail.com cash4u.com
    catlover.com chef.net chemist.com chinamail.com clerk.com clubmember.org collector.org columnist.com
    comic.com computer4u.com coolsite.net counsellor.com cutey.com cyber-wizard.com cyberdude.com
    cybergal.com dallasmail.com deliveryman.com diplomats.com disciples.com discofan.com doctor.com
    doglover.com doramail.com dublin.com dutchmail.com earthling.net elvisfan.com englandmail.com execs.com
    fastservice.com financier.com fireman.net galaxyhit.com gardener.com geologist.com germanymail.com
    graduate.org graphic-designer.com greenmail.net groupmail.com hackermail.com hairdresser.net
    hilarious.com hiphopfan.com homemail.com hot-shot.com housemail.com humanoid.net innocent.com inorbit.com
    instruction.com instructor.net insurer.com irelandmail.com israelmail.com italymail.com japan.com
    job4u.com journalist.com keromail.com kissfans.com kittymail.com koreamail.com lawyer.com legislator.com
    london.com loveable.com lovecat.com madonnafan.com madrid.com mail-me.com marchmail.com metalfan.com
    mexicomail.com mindless.com minister.com moscowmail.com munich.com muslim.com net-shopping.com null.net
    nycmail.com optician.com orthodontist.net pacific-ocean.com pacificwest.com pediatrician.com petlover.com
    photographer.net physicist.net planetmail.com planetmail.net polandmail.com politician.com presidency.com
    priest.com programmer.net protestant.com publicist.com qualityservice.com radiologist.net ravemail.com
    realtyagent.com reborn.com reggaefan.com registerednurses.com reincarnate.com religious.com repairman.com
    representative.com rescueteam.com revenue.com rocketship.com rockfan.com rome.com royal.net saintly.com
    salesperson.net samerica.com sanfranmail.com scientist.com scotlandmail.com secretary.net snakebite.com
    socialworker.net sociologist.com solution4u.com songwriter.net spainmail.com surgical.net swedenmail.com
    swissmail.com teachers.org tech-center.com technologist.com theplate.com therapist.net toke.com
    toothfairy.com torontomail.com tvstar.com umpire.com uymail.com webname.com whoever.com winning.com
    witty.com worker.com workmail.com yours.com
  `),
];

export const ispProviders = names(`
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

/** Providers chosen for privacy. Their mailboxes are real, but lists often call them disposable. */
export const privacyProviders = names(`
  hushmail.com hush.com lavabit.com riseup.net disroot.org autistici.org ctemplar.com startmail.com
  runbox.com countermail.com mailfence.com kolabnow.com soverin.net migadu.com skiff.com cock.li
  vfemail.net airmail.cc dismail.de elude.in paranoid.email onionmail.org mail2tor.com danwin1210.me dnmx.org
`);

export const relays: Readonly<Record<string, readonly string[]>> = {
  simplelogin: names(
    "simplelogin.com simplelogin.co simplelogin.io simplelogin.fr aleeas.com slmail.me slmails.com silomails.com dralias.com 8shield.net 8alias.com",
  ),
  "proton-pass": names("passmail.net passmail.com passinbox.com passfwd.com"),
  "firefox-relay": names("mozmail.com relay.firefox.com"),
  duckduckgo: names("duck.com"),
  "apple-hide-my-email": names("privaterelay.appleid.com"),
  addy: names("anonaddy.com anonaddy.me addy.io addymail.com 4wrd.cc mailer.me"),
  "33mail": names("33mail.com"),
  erine: names("erine.email"),
  altmails: names("altmails.com"),
  blur: names("opayq.com blur.com abine.com"),
  "forward-email": names("forwardemail.net"),
  improvmx: names("improvmx.com"),
  cloaked: names("cloaked.id"),
  maskmail: names("maskmail.net"),
  e4ward: names("e4ward.com"),
  nospammail: names("nospammail.net"),
  emailalias: names("emailalias.io sl.email"),
  mailshield: names("mailshield.app"),
  sneakemail: names("sneakemail.com snkmail.com snkml.com liamekaens.com"),
  spamgourmet: names(
    "spamgourmet.com spamgourmet.net spamgourmet.org antichef.com antichef.net dfgh.net neverbox.com recursor.net spamcannon.com spamcannon.net spameater.org xoxy.net",
  ),
};

const known: ReadonlySet<string> = new Set([...majorProviders, ...ispProviders]);

/**
 * Returns whether a domain certainly receives mail, so that no DNS query is needed. Leaves out vanity domains and providers
 * chosen for privacy: some of them were given up.
 *
 * @param ascii a host name, lower case
 */
export const isKnownProvider = (ascii: string): boolean => known.has(ascii);

/** Providers with domains in many countries. The lists above have only the popular domains. */
export const families = "aol gmx hotmail live outlook tuta tutanota yahoo yandex".split(" ");

/**
 * Domains of a family: `hotmail.se`, `yahoo.com.vn`, `yahoo.co.nz`. Under other top-level domains, the name may belong to
 * someone else.
 */
const familyDomain = new RegExp(`^(${families.join("|")})\\.(?:com|net|org|info|biz|(?:com?\\.)?[a-z]{2})$`);

export function providerFamily(ascii: string): string | undefined {
  return familyDomain.exec(ascii)?.[1];
}

const free: ReadonlySet<string> = new Set([
  ...majorProviders,
  ...mailcomDomains,
  ...offeredDomains,
  ...privacyProviders,
]);

/** Returns whether anybody can have a mailbox at a domain. A provider of connections has mailboxes for its customers only. */
export const isFreeProvider = (ascii: string): boolean =>
  free.has(ascii) || providerFamily(ascii) !== undefined;
