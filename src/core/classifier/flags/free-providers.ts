/** Providers at which anybody can have a mailbox, besides those of providers.ts. */
import { fastmailDomains, mailcomDomains, majorProviders, namesIn, providerFamily } from "../providers.js";

/** More domains of mail.com and Fastmail, neither disposable nor typos. Those without a dot end with .com. */
export const offeredDomains = [
  ...fastmailDomains,
  ...namesIn(`
    activist adexec africamail aircraftmail allergist alumni alumnidirector angelic appraiser.net
    archaeologist arcticmail artlover atheist auctioneer.net australiamail bartender.net bellair.net
    berlin bikerider birdlover blader boardermail brazilmail brew-master brew-meister bsdmail
    californiamail cash4u catlover chef.net chemist chinamail clerk clubmember.org collector.org
    columnist comic computer4u coolsite.net counsellor cutey cyber-wizard cyberdude cybergal dallasmail
    deliveryman diplomats disciples discofan doctor doglover doramail dublin dutchmail earthling.net
    elvisfan englandmail execs fastservice financier fireman.net galaxyhit gardener geologist
    germanymail graduate.org graphic-designer greenmail.net groupmail hackermail hairdresser.net
    hilarious hiphopfan homemail hot-shot housemail humanoid.net innocent inorbit instruction
    instructor.net insurer irelandmail israelmail italymail japan job4u journalist keromail kissfans
    kittymail koreamail lawyer legislator london loveable lovecat madonnafan madrid mail-me marchmail
    metalfan mexicomail mindless minister moscowmail munich muslim net-shopping null.net nycmail
    optician orthodontist.net pacific-ocean pacificwest pediatrician petlover photographer.net
    physicist.net planetmail planetmail.net polandmail politician presidency priest programmer.net
    protestant publicist qualityservice radiologist.net ravemail realtyagent reborn reggaefan
    registerednurses reincarnate religious repairman representative rescueteam revenue rocketship
    rockfan rome royal.net saintly salesperson.net samerica sanfranmail scientist scotlandmail
    secretary.net snakebite socialworker.net sociologist solution4u songwriter.net spainmail
    surgical.net swedenmail swissmail teachers.org tech-center technologist theplate therapist.net toke
    toothfairy torontomail tvstar umpire uymail webname whoever winning witty worker workmail yours
  `),
];

/** Providers chosen for privacy. Their mailboxes are real, but lists often call them disposable. */
export const privacyProviders = namesIn(`
  hushmail.com hush.com lavabit.com riseup.net disroot.org autistici.org ctemplar.com startmail.com
  runbox.com countermail.com mailfence.com kolabnow.com soverin.net migadu.com skiff.com cock.li
  vfemail.net airmail.cc dismail.de elude.in paranoid.email onionmail.org mail2tor.com danwin1210.me dnmx.org
`);

const free = new Set<string>([...majorProviders, ...mailcomDomains, ...offeredDomains, ...privacyProviders]);

export const isFreeProvider = (ascii: string): boolean => free.has(ascii) || providerFamily(ascii) !== undefined;
