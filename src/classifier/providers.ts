/**
 * Mail domains of known providers and relays, lower case, ASCII. Data only; the rules are in `rules/`. Sources: the
 * providers' own lists of domains (2026-11), and the documentation of the relays.
 */

export const namesIn = (block: string): readonly string[] => block.trim().split(/\s+/);

/** Besides the families. */
export const majorProviders = namesIn(`
  gmail.com googlemail.com msn.com passport.com windowslive.com ymail.com rocketmail.com myyahoo.com
  aim.com icloud.com me.com mac.com web.de email.de mail.com freenet.de posteo.de posteo.net mailbox.org
  proton.me protonmail.com protonmail.ch pm.me tutamail.com keemail.me hey.com fastmail.com fastmail.fm
  fastmail.to sent.com messagingengine.com zoho.com zohomail.com zoho.eu zoho.in mail.ru bk.ru list.ru
  inbox.ru internet.ru ya.ru rambler.ru lenta.ru autorambler.ru myrambler.ru ro.ru ukr.net i.ua meta.ua
  bigmir.net qq.com foxmail.com vip.qq.com 163.com 126.com yeah.net vip.163.com 188.com sina.com sina.cn
  sohu.com 139.com 189.cn wo.cn 21cn.com tom.com aliyun.com naver.com daum.net hanmail.net nate.com
  kakao.com rediffmail.com indiatimes.com in.com libero.it virgilio.it inwind.it iol.it laposte.net
  wp.pl o2.pl onet.pl interia.pl poczta.onet.pl op.pl vp.pl gazeta.pl tlen.pl go2.pl seznam.cz email.cz
  centrum.cz post.cz atlas.cz azet.sk zoznam.sk centrum.sk freemail.hu citromail.hu indamail.hu abv.bg
  mail.bg dir.bg inbox.lv inbox.lt mail.ee spray.se luukku.com suomi24.fi sapo.pt iol.pt terra.com.br
  uol.com.br bol.com.br ig.com.br globo.com globomail.com r7.com juno.com netzero.net netzero.com
  webmail.co.za walla.co.il walla.com mynet.com inbox.com lycos.com excite.com excite.it myway.com
  usa.net care2.com
`);

/** Vanity domains of mail.com: public mailboxes at domains that look like domains of companies. */
export const mailcomDomains = namesIn(`
  email.com usa.com post.com europe.com asia.com consultant.com engineer.com writeme.com dr.com
  cheerful.com accountant.com techie.com myself.com iname.com contractor.net linuxmail.org
`);

/** Domains at which Fastmail offers addresses. `anything@ann.DOMAIN` reaches `ann@DOMAIN`, too. */
export const fastmailDomains = namesIn(`
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

/** Providers with domains in many countries; known-providers.ts has the popular ones of these. */
export const families = "aol gmx hotmail live outlook tuta tutanota yahoo yandex".split(" ");

/**
 * Domains of a family: `hotmail.se`, `yahoo.com.vn`, `yahoo.co.nz`. Under other top-level domains, the name may belong to
 * someone else.
 */
const familyDomain = new RegExp(`^(${families.join("|")})\\.(?:com|net|org|info|biz|(?:com?\\.)?[a-z]{2})$`);

export function providerFamily(ascii: string): string | undefined {
  return familyDomain.exec(ascii)?.[1];
}
