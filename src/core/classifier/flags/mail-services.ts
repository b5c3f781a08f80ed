/** Mail services and hosts of parked domains, by MX host; only for flags. Sources: set-up pages of the services. */
import { findSuffixIn } from "../tables/suffix-walk.js";

const services: Readonly<Record<string, string>> = {
  google: "aspmx.l.google.com smtp.google.com googlemail.com",
  microsoft: "mail.protection.outlook.com mx.microsoft",
  yahoo: "yahoodns.net",
  apple: "mail.icloud.com",
  zoho: "zoho.com zoho.eu zoho.in zoho.com.au zoho.jp",
  proton: "protonmail.ch",
  fastmail: "messagingengine.com",
  yandex: "mx.yandex.net mx.yandex.ru",
  tencent: "mxbiz1.qq.com mxbiz2.qq.com mxdomain.qq.com",
  proofpoint: "pphosted.com ppe-hosted.com",
  mimecast: "mimecast.com mimecast.co.za",
  barracuda: "barracudanetworks.com",
  cloudflare: "mx.cloudflare.net",
  amazon: "amazonaws.com",
  mailgun: "mailgun.org",
  godaddy: "secureserver.net",
  namecheap: "registrar-servers.com privateemail.com",
  ovh: "ovh.net",
  ionos: "ionos.com ionos.de ionos.co.uk ionos.fr ionos.es kundenserver.de",
  hostinger: "hostinger.com",
  gandi: "gandi.net",
  migadu: "migadu.com",
};

const parking = new Set("park-mx.above.com h-email.net sedoparking.com parkingcrew.net".split(" "));

const serviceOf: ReadonlyMap<string, string> = new Map(
  Object.entries(services).flatMap(([service, hosts]) => hosts.split(" ").map((host) => [host, service])),
);

export const mailServices: readonly string[] = Object.keys(services);

export function mailServiceOf(host: string): string | undefined {
  const suffix = findSuffixIn(host, (suffix) => serviceOf.has(suffix));
  return suffix === undefined ? undefined : serviceOf.get(suffix);
}

export const isParkingHost = (host: string): boolean =>
  findSuffixIn(host, (suffix) => parking.has(suffix)) !== undefined;
