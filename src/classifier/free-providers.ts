/** Providers at which anybody can have a mailbox, besides those of providers.ts. */
import { fastmailDomains, mailcomDomains, majorProviders, namesIn, providerFamily } from "./providers.js";

/**
 * More domains at which mail.com and Fastmail offer addresses. Real people use them: they are neither disposable nor typos.
 */
export const offeredDomains = [
  ...fastmailDomains,
  ...namesIn(`
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

/** Providers chosen for privacy. Their mailboxes are real, but lists often call them disposable. */
export const privacyProviders = namesIn(`
  hushmail.com hush.com lavabit.com riseup.net disroot.org autistici.org ctemplar.com startmail.com
  runbox.com countermail.com mailfence.com kolabnow.com soverin.net migadu.com skiff.com cock.li
  vfemail.net airmail.cc dismail.de elude.in paranoid.email onionmail.org mail2tor.com danwin1210.me dnmx.org
`);

const free: ReadonlySet<string> = new Set([
  ...majorProviders,
  ...mailcomDomains,
  ...offeredDomains,
  ...privacyProviders,
]);

/** Returns whether anybody can have a mailbox at a domain. A provider of connections has mailboxes for its customers only. */
export const isFreeProvider = (ascii: string): boolean =>
  free.has(ascii) || providerFamily(ascii) !== undefined;
