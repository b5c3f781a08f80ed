// Mail exchanges of disposable addresses, which many domains that no list knows yet share. Only data, no shared mail
// hosts or parking services. Sources: public lists of hobbyists and services (2026-10).
import { namesIn } from "../providers.js";

export const disposableExchanges: ReadonlySet<string> = new Set(
  namesIn(`
  1secmail.com 1secmail.net 1secmail.org aerospaceemail.com arrivalserver.com arrivalserver.net beavis99.com
  beavis99.net brushemail.com catchservers.com catchservers.net cdfaq.com cleantempmail.com den.yt
  discard.email discardmail.com dnses.ro dropmail.me email-fake.com email.chatgpt.org.uk
  email.gravityengine.cc emailfake.com emlhub.com emlpro.com emltmp.com erinn.biz fakeinbox.com fishyes.info
  freeml.net generator.email getairmail.com gpa.lu guerrillamail.com hubblehost.com inboxbear.com
  inboxkitten.com inquirymailer.com m1bp.com mail-fake.com mail-temp.com mail.casadorock.com mail.cx
  mail.dustmail.net mail.ggez.team mail.gw mail.jabmag.com mail.kuromee.com mail.mailerhost.net
  mail.puretempmail.com mail.rakibbd.com mail.td mail.temporary-mail.net mail.tm mail.tmp.al mailinator.com
  mailnesia.com mailpwr.com mainnetmail.com mb5p.com mimimail.me moakt.com mohmal.com mx.cse445.com
  mx.mail-data.net mx1.darkvilto.biz mx1.icdn.be mxcomet.com mxstorm.com mytemp.email outsideserver.com
  papierkorb.me patternemail.com powered.name prd-smtp.10minutemail.com recoverhost.com rejecthost.com
  sharklasers.com spam4.me spymail.one stememail.com temp-mail.io temp-mail.org tempamail.com
  tempforward.com tempm.com tempmail.com tempmail.dev tempmail.jp tempmail.lol tempmail.plus tempmailbox.net
  tempr.email tinyhost.shop tmail.delivery tmail.gg tmailor.com trashmail.com unstablemail.com vietxf.com
  wabblywabble.com wallywatts.com yomail.info yopmail.com
`),
);
