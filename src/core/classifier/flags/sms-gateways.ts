/** Domains of US and Canadian carriers that turn mail into texts. Sources: their help pages, public lists (2026-11). */
import { namesIn } from "../providers.js";

export const smsGateways: ReadonlySet<string> = new Set(
  namesIn(`
  cingularme.com email.uscc.net mailmymobile.net message.alltel.com message.ting.com messaging.nextel.com
  messaging.sprintpcs.com mms.alltelwireless.com mms.att.net mms.cricketwireless.net mms.mycricket.com mms.uscc.net
  mmst5.tracfone.com mobile.gci.net msg.acsalaska.com msg.fi.google.com msg.koodomobile.com msg.telus.com
  myboostmobile.com mymetropcs.com mypixmessages.com page.southernlinc.com pcs.rogers.com pm.sprint.com qwestmp.com
  rinasms.com sms.cricketwireless.net sms.mtawireless.com sms.myboostmobile.com sms.mycricket.com sms.sasktel.com
  text.republicwireless.com tmomail.net txt.att.net txt.bell.ca txt.bellmobility.ca viaerosms.com vmobl.com vmpix.com
  vtext.com vzwpix.com
`),
);
