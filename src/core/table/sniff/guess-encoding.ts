// Guesses the encoding of text that is not UTF-8, for advice. A wrong encoding makes other letters without an error, so
// a guess must be sure: most characters are common in the language, and far fewer are in every other encoding.
import { isUtf8 } from "node:buffer";
import { decodeWindows1252, westernLetters } from "../bytes.js";

const western = new RegExp(`[${westernLetters}]`, "g");
/** Western letters that the encodings of Central Europe, Turkey and the Baltic also have. */
const shared = /[ÁÄÅÉÍÓÖÚÜßáäåéíóöúü]/g;
/** Letters that are common in Western Europe, and whose codes are not those of common Latvian letters. */
const telling = /[ÁÄÅÆÉÍÑÓÖØÚÜßàáãäåæéíñóöøúü]/g;
/** Any text in windows-1252 that contains only these letters and the usual signs, and no sign within a word. */
const westernText = () =>
  new RegExp(
    `^(?!.*[${westernLetters}]{3}|.*\\p{L}[^\\0-\\x7f\\s\\p{L}’–—]\\p{L})[\\0-\\x7f\\s${westernLetters}‘’“”–—…«»¡¿°·€]*$`,
    "su",
  );
/** Letters that are Hungarian ones in windows-1250, and letters that Hungarian texts do not contain. */
const hungarian = /[ÕÛõû]/;
const notHungarian = /[ÀÃÇÈÊàãçèê]/;

const kanji =
  "山田中川村木本林小佐藤鈴高橋伊渡辺斎加吉井上松清水野森池石原岡島前長谷福西東南北大太一二三郎子美恵香真由和幸正人男雄夫明春夏秋智裕健也樹直" +
  "広史文学京都府県市区町丁目番号道海阪神奈宮城千葉埼玉横浜名屋愛知静兵庫株式会社部課営業総務様氏住所電話国日";
const japanese = `ぁ-ゖァ-ヶー${kanji}`;
const simplified =
  "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖董袁潘蒋蔡余杜叶程苏魏吕任沈姚卢伟芳娜敏静丽强磊军洋勇艳杰娟涛超秀霞刚桂" +
  "华兰红建国小大中北京上海广州深圳天津重庆成都杭南武汉西安省市县路号街公司有限科技的是不了在人我他这为来个们到说和地也你年生会后能对用发电话址姓名邮箱";
const traditional =
  "陳林黃張李王吳劉蔡楊許鄭謝洪郭邱曾廖賴徐周葉蘇莊呂江何蕭羅高潘簡朱鍾彭游詹胡施沈余盧梁趙顏柯翁魏孫戴范方宋鄧杜傅侯曹薛丁馬董溫唐藍蔣紀連馮" +
  "志雅婷美淑惠俊宏文明建國華玉英台臺北中南雄市縣區鄉鎮路街號樓公司有限股份的是不了在人我他這來個們到說和地你年會後能對用發電話址姓名郵箱";
const korean =
  "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지현영수미은경희선혜연숙자철호준상동원재훈태국대시도로길읍면리" +
  "식회사번름메일명가나다의는을를에";
const russian = "оеаинтсрвлкмдпуОЕАИНТСРВЛКМДПУ";

/** Russian, Ukrainian or Bulgarian text: no word mixes scripts or has a capital letter after a small one. */
const cyrillicText =
  /^(?!.*(?:[a-z][^\0-\x7f\s«»„“”’–—№]|[^\0-\x7f\s«»„“”’–—№][a-z]|[а-яёіїєґ][А-ЯЁІЇЄҐ]))[\0-\x7f\sА-Яа-яЁёІіЇїЄєҐґ«»„“”’–—№]*$/su;

type Candidate = readonly [encoding: string, common: string, leastShare: number, text?: RegExp];
const candidates: readonly Candidate[] = [
  ["shift_jis", japanese, 0.3],
  ["euc-jp", japanese, 0.3],
  ["gb18030", simplified, 0.3],
  ["big5", traditional, 0.3],
  ["euc-kr", korean, 0.3],
  ["windows-1251", russian, 0.65, cyrillicText],
  ["koi8-r", russian, 0.65, cyrillicText],
];

const centralEuropean = ["windows-1250", "iso-8859-2"];
const alphabets = [
  { encodings: centralEuropean, letters: "ąćęłńóśźż" },
  { encodings: centralEuropean, letters: "áäčďéěíĺľňóôŕřšťúůýž" },
  { encodings: centralEuropean, letters: "áéíóöőúüű" },
  { encodings: centralEuropean, letters: "čćđšž" },
  { encodings: centralEuropean, letters: "ăâîşţ" },
  { encodings: ["windows-1253", "iso-8859-7"], letters: "αβγδεζηθικλμνξοπρςστυφχψωάέήίόύώϊϋ" },
  { encodings: ["windows-1254"], letters: "çğıöşüİâî" },
  { encodings: ["macintosh"], letters: "àâäãåæçéèêëíìîïñóòôöõøúùûüßœ" },
  { encodings: ["windows-1257"], letters: "āčēģīķļņšūž" },
  { encodings: ["windows-1257"], letters: "ąčęėįšųūž" },
  { encodings: ["windows-1252"], letters: "áðéíóúýþæö" },
  { encodings: ["windows-1255"], letters: "אבגדהוזחטיךכלםמןנסעףפץצקרשת" },
  { encodings: ["windows-1256"], letters: "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي" },
];

const mixesCase = (text: string): boolean =>
  /(?![\0-\x7f])\p{Ll}\p{Lu}|\p{Ll}(?![\0-\x7f])\p{Lu}|\p{L}(?![\0-\x7f])\p{Lu}\p{Ll}/u.test(text);
const mixesScripts = (text: string): boolean => /[a-z](?![\0-\x7f])\p{L}|(?![\0-\x7f])\p{L}[a-z]/iu.test(text);
const signs = "‘’“”„–—…«»°§€";
/** Fewest different letters of an alphabet: with less, too many languages fit. */
const fewestDifferent = 3;

const fewestCharacters = 8;
const fewestMixed = 20;
const leastLead = 1.7;

/** Returns a WHATWG label, as `shift_jis`; undefined for UTF-8, and if unsure. `sample` may end within a line. */
export function guessEncoding(sample: Uint8Array): string | undefined {
  const end = Math.max(sample.lastIndexOf(0x0a), sample.lastIndexOf(0x0d));
  const bytes = end === -1 ? sample : sample.subarray(0, end + 1);
  if (isUtf8(bytes)) return undefined;
  if (isWestern(decodeWindows1252(bytes))) return "windows-1252";
  const found = candidates.map((candidate) => ({ candidate, share: shareOf(candidate, bytes) }));
  const [best, second] = found.sort((a, b) => b.share - a.share);
  const [encoding, , leastShare] = best!.candidate;
  if (best!.share < leastShare) return byAlphabet(bytes);
  return best!.share >= leastLead * second!.share ? encoding : undefined;
}

function byAlphabet(bytes: Uint8Array): string | undefined {
  const readings = new Map<string, string>();
  for (const { encodings, letters } of alphabets) {
    for (const encoding of encodings) {
      const text = decodedAs(encoding, bytes);
      if (text !== undefined && isWrittenIn(letters, text) && !readings.has(text)) readings.set(text, encoding);
    }
  }
  const [[, encoding] = []] = readings;
  return readings.size === 1 ? encoding : undefined;
}

function isWrittenIn(letters: string, text: string): boolean {
  const all = letters + letters.toUpperCase();
  if (!new RegExp(`^[\\0-\\x7f\\s${all}${signs}]*$`, "u").test(text) || mixesCase(text)) return false;
  if (!/\p{Script=Latin}/u.test(letters) && mixesScripts(text)) return false;
  const found = text.toLowerCase().match(new RegExp(`[${letters}]`, "gu")) ?? [];
  return found.length >= fewestCharacters && new Set(found).size >= fewestDifferent;
}

function decodedAs(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Shared letters are always correct. Others must be many, and none only needed by the other languages. */
function isWestern(text: string): boolean {
  if (!westernText().test(text)) return false;
  const letters = text.match(western)?.length ?? 0;
  if (text.match(shared)?.length === letters) return true;
  if (hungarian.test(text) && !notHungarian.test(text)) return false;
  return letters >= fewestMixed && (text.match(telling)?.length ?? 0) >= letters / 3;
}

function shareOf([encoding, common, , pattern]: Candidate, bytes: Uint8Array): number {
  const text = decodedAs(encoding, bytes);
  const characters = text?.match(/[^\0-\x7f]/gu) ?? [];
  if (text === undefined || characters.length < fewestCharacters || pattern?.test(text) === false) return 0;
  return (text.match(new RegExp(`[${common}]`, "g")) ?? []).length / characters.length;
}
