/** The report as a picture for a mail or a slide: its claim, the bar of statuses, and their figures. */
import { grouped, percent } from "../../../text.js";
import { shownStatus } from "../../validator/statuses.js";
import type { Facts } from "../facts.js";
import { gradeOf } from "../grade.js";
import { leadOf, statusesOf, titleOf } from "../words.js";
import { renderHtml } from "./html.js";
import { embeddedFacts, factsForNext } from "./json.js";

const width = 800;
const margin = 32;
const inner = width - 2 * margin;
const itemsInLine = 3;
const longestTitle = 80;
/** Mean width of a letter as a part of the font size, for the widest font. */
const letterWidth = 0.58;
const gradeSize = 15;
const gradeLetters = Math.floor(inner / (letterWidth * gradeSize));

/** A picture has no style of its own in a mail: these are the colours of the report in light. */
const colours: Readonly<Record<string, string>> = {
  ok: "#2e8b57",
  alias: "#1f7a99",
  disposable: "#b7791f",
  fake: "#c0392b",
  quota_exceeded: "#7d4fa8",
  empty: "#aab2bb",
};
const ink = "#1b1f24";
const soft = "#57606a";

export function renderPicture(facts: Facts): string {
  const statuses = statusesOf(facts);
  const lines = Math.ceil(statuses.length / itemsInLine);
  const lead = leadOf(facts);
  const grade = gradeOf(facts)?.text.match(new RegExp(`.{1,${gradeLetters}}(?: |$)`, "g")) ?? [];
  const barTop = 114 + 20 * Math.max(1, grade.length);
  const height = barTop + 56 + 34 * lines;
  const title = titleOf(facts);
  let x = margin;
  const colourOf = (className: string) => colours[className] ?? soft;
  return `${renderHtml(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      font-family="system-ui, Segoe UI, Roboto, Helvetica, Arial, sans-serif"
    >
      <title>{title}</title>
      <metadata dangerouslySetInnerHTML={{ __html: embeddedFacts(factsForNext(facts)) }} />
      <rect width={width} height={height} fill="#ffffff" />
      <text x={margin} y="44" font-size="15" fill={soft}>
        {title.length > longestTitle ? `${title.slice(0, longestTitle)}...` : title}, {facts.made.slice(0, 10)}
      </text>
      <text
        x={margin}
        y="86"
        font-size={Math.min(30, Math.floor(inner / (letterWidth * lead.length)))}
        font-weight="650"
        fill={ink}
      >
        {lead}
      </text>
      {grade.map((line, i) => (
        <text key={line} x={margin} y={114 + 20 * i} font-size={gradeSize} fill={ink}>
          {line.trim()}
        </text>
      ))}
      {statuses.map(({ label, className, count }) => {
        const part = (inner * count) / facts.rows;
        x += part;
        return (
          <rect
            key={label}
            x={(x - part).toFixed(2)}
            y={barTop}
            width={part.toFixed(2)}
            height="28"
            fill={colourOf(className)}
          />
        );
      })}
      {statuses.map(({ label, className, count }, i) => {
        const left = margin + ((i % itemsInLine) * inner) / itemsInLine;
        const top = barTop + 44 + 34 * Math.floor(i / itemsInLine);
        return (
          <g key={label}>
            <rect x={left.toFixed(2)} y={top} width="12" height="12" rx="3" fill={colourOf(className)} />
            <text x={(left + 18).toFixed(2)} y={top + 11} font-size="14" fill={ink}>
              {shownStatus(label)} {grouped(count)} ({percent(count, facts.rows)})
            </text>
          </g>
        );
      })}
    </svg>,
  )}\n`;
}
