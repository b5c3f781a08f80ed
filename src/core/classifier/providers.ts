/** Mail domains of providers and relays; only data. Sources: their own lists of domains (2026-11) and documentation. */

/** Returns the domains in a text. Those without a dot end with .com. */
export const namesIn = (block: string): readonly string[] =>
  block
    .trim()
    .split(/\s+/)
    .map((name) => (name.includes(".") ? name : `${name}.com`));

export const majorProviders = namesIn(`
  gmail googlemail msn passport windowslive ymail rocketmail myyahoo aim icloud me mac web.de email.de
  mail freenet.de posteo.de posteo.net mailbox.org proton.me protonmail protonmail.ch pm.me tutamail
  keemail.me hey fastmail fastmail.fm fastmail.to sent messagingengine zoho zohomail zoho.eu zoho.in
  mail.ru bk.ru list.ru inbox.ru internet.ru ya.ru rambler.ru lenta.ru autorambler.ru myrambler.ru ro.ru
  ukr.net i.ua meta.ua bigmir.net qq foxmail vip.qq.com 163 126 yeah.net vip.163.com 188 sina sina.cn sohu
  139 189.cn wo.cn 21cn tom aliyun naver daum.net hanmail.net nate kakao rediffmail indiatimes in
  libero.it virgilio.it inwind.it iol.it laposte.net wp.pl o2.pl onet.pl interia.pl poczta.onet.pl op.pl
  vp.pl gazeta.pl tlen.pl go2.pl seznam.cz email.cz centrum.cz post.cz atlas.cz azet.sk zoznam.sk
  centrum.sk freemail.hu citromail.hu indamail.hu abv.bg mail.bg dir.bg inbox.lv inbox.lt mail.ee spray.se
  luukku suomi24.fi sapo.pt iol.pt terra.com.br uol.com.br bol.com.br ig.com.br globo globomail r7 juno
  netzero.net netzero webmail.co.za walla.co.il walla mynet inbox lycos excite excite.it myway usa.net
  care2
`);

export const mailcomDomains = namesIn(`
  email usa post europe asia consultant engineer writeme dr cheerful accountant techie myself iname
  contractor.net linuxmail.org
`);

/** Domains at which Fastmail offers addresses. `anything@ann.DOMAIN` reaches `ann@DOMAIN`, too. */
export const fastmailDomains = namesIn(`
  fastmail fastmail.fm fastmail.to sent 123mail.org 150mail 16mail 2-mail 4email.net 50mail airpost.net
  allmail.net cluemail elitemail.org emailcorner.net emailengine.net emailengine.org emailgroups.net
  emailplus.org emailuser.net eml.cc f-m.fm fast-email fast-mail.org fastem fastemail.us fastemailer
  fastest.cc fastimap fastmail.cn fastmail.co.uk fastmail.com.au fastmail.es fastmail.im fastmail.in
  fastmail.jp fastmail.mx fastmail.net fastmail.nl fastmail.se fastmail.tw fastmail.us fastmailbox.net
  fastmessaging fea.st fmail.co.uk fmailbox fmgirl fmguy ftml.net h-mail.us hailmail.net imap-mail imap.cc
  imapmail.org inoutbox internet-e-mail internet-mail.org internetemails.net internetmailing.net
  jetemail.net justemail.net letterboxes.org mail-central mail-page mailandftp mailas mailbolt mailc.net
  mailcan mailforce.net mailftp mailhaven mailingaddress.org mailite mailmight mailnew mailsent.net
  mailservice.ms mailup.net mailworks.org ml1.net mm.st myfastmail mymacmail ownmail.net petml postinbox
  postpro.net proinbox promessage realemail.net reallyfast.biz reallyfast.info rushpost sent.as sent.at
  speedpost.net speedymail.org ssl-mail swift-mail the-fastest.net the-quickest theinternetemail
  veryfast.biz veryspeedy.net warpmail.net xsmail yepmail.net your-mail
`);

export const relays: Readonly<Record<string, readonly string[]>> = {
  simplelogin: namesIn(
    "simplelogin.com simplelogin.co simplelogin.io simplelogin.fr aleeas.com slmail.me slmails.com silomails.com dralias.com 8shield.net 8alias.com",
  ),
  "proton-pass": namesIn("passmail.net passmail.com passinbox.com passfwd.com"),
  "firefox-relay": namesIn("mozmail.com relay.firefox.com"),
  duckduckgo: namesIn("duck.com"),
  "apple-hide-my-email": namesIn("privaterelay.appleid.com"),
  addy: namesIn("anonaddy.com anonaddy.me addy.io addymail.com 4wrd.cc mailer.me"),
  "33mail": namesIn("33mail.com"),
  erine: namesIn("erine.email"),
  altmails: namesIn("altmails.com"),
  blur: namesIn("opayq.com blur.com abine.com"),
  "forward-email": namesIn("forwardemail.net"),
  improvmx: namesIn("improvmx.com"),
  cloaked: namesIn("cloaked.id"),
  maskmail: namesIn("maskmail.net"),
  e4ward: namesIn("e4ward.com"),
  nospammail: namesIn("nospammail.net"),
  emailalias: namesIn("emailalias.io sl.email"),
  mailshield: namesIn("mailshield.app"),
  sneakemail: namesIn("sneakemail.com snkmail.com snkml.com liamekaens.com"),
  spamgourmet: namesIn(
    "spamgourmet.com spamgourmet.net spamgourmet.org antichef.com antichef.net dfgh.net neverbox.com recursor.net spamcannon.com spamcannon.net spameater.org xoxy.net",
  ),
};

export const families = "aol gmx hotmail live outlook tuta tutanota yahoo yandex".split(" ");

/** Includes `hotmail.se` and `yahoo.co.nz`. Under other top-level domains, someone else may own the name. */
const familyDomain = new RegExp(`^(${families.join("|")})\\.(?:com|net|org|info|biz|(?:com?\\.)?[a-z]{2})$`);

export const providerFamily = (ascii: string): string | undefined => familyDomain.exec(ascii)?.[1];
