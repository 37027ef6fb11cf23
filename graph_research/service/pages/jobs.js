// A job on the page: where it stands, and what can be done with it.

import { JOBS, ask, element, read, say, send } from "./requests.js";

export const OVER = new Set(["COMPLETED", "FAILED", "CANCELLED", "EXPIRED"]);
const STAGES = ["decomposition", "retrieval", "scoring", "synthesis"];
const FORMATS = { md: "Markdown", docx: "Word", pdf: "PDF", json: "JSON" };
const MOST_LINES = 500;

// The element of a job. `act` makes a listener of work that is done and then shown; `before` is how the job was shown
// last: as long as its status is the same, what was opened, typed and scrolled there stays.
export function jobElement(job, act, before) {
  const head = headOf(job);
  if (before?.job.status === job.status) {
    before.head.replaceWith(head);
    return { ...before, job, head };
  }
  const made = element("article", { id: job.id }, head, ...moreOf(job, act));
  before?.made.replaceWith(made);
  return { job, head, made };
}

function headOf(job) {
  const head = element("div", { className: "rows" }, title(job), element("p", { className: "faint" }, times(job)));
  if (job.status === "PROCESSING" || job.status === "QUEUED") head.append(stages(job));
  if (job.error) head.append(element("p", { className: "error" }, job.error.message));
  if (job.has_report) head.append(reportLinks(job));
  return head;
}

function title(job) {
  const status = job.status.toLowerCase().replace("_", " ");
  return element(
    "div",
    { className: "title" },
    element("h3", {}, job.question || job.id),
    element("span", { className: `status ${job.status}` }, status),
  );
}

function times(job) {
  const began = job.started_at && new Date(job.started_at);
  const seconds = job.finished_at && began && Math.round((new Date(job.finished_at) - began) / 1000);
  const took = Number.isFinite(seconds) ? `, took ${duration(seconds)}` : "";
  return new Date(job.created_at).toLocaleString() + took;
}

function duration(seconds) {
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function stages(job) {
  const now = job.status === "QUEUED" && !job.stage ? -1 : STAGES.indexOf(job.stage);
  const items = STAGES.map((stage, number) => {
    const item = element("li", { className: number < job.progress * STAGES.length ? "done" : "" }, stage);
    if (number === now && job.status === "PROCESSING") item.ariaCurrent = "step";
    return item;
  });
  return element("ol", { className: "stages", ariaLabel: "Progress" }, ...items);
}

function link(job, name, text, className = "") {
  const href = `${JOBS}/${job.id}/${name}`;
  return element("a", { href, className, target: "_blank", rel: "noreferrer" }, text);
}

function reportLinks(job) {
  const others = Object.entries(FORMATS).map(([format, text]) => link(job, `report.${format}`, text));
  return element("p", { className: "links" }, link(job, "report.html", "Report", "button primary"), ...others);
}

function* moreOf(job, act) {
  const path = `${JOBS}/${job.id}`;
  const button = (text, work) => element("button", { type: "button", onclick: act(work) }, text);
  const removal = () => confirm("Delete this job and its report?") && ask(path, { method: "DELETE" });
  const form = (label, text, work) => oneField(label, text, act, work);
  if (job.status === "AWAITING_INPUT") yield waiting(job, act);
  if (!OVER.has(job.status)) {
    const cancel = button("Cancel", () => send(`${path}/cancel`));
    const wish = form("A wish for the next phase", "Send", async (text) => {
      await send(`${path}/wishes`, { wish: text });
      return "The next phase will heed it.";
    });
    yield details("What it does", log(job), ...(job.status === "PROCESSING" ? [wish] : []));
    yield element("p", { className: "links" }, cancel, link(job, "graph.svg", "Graph"));
    return;
  }
  const actions = element("p", { className: "links" }, link(job, "graph.svg", "Graph"));
  if (job.status === "COMPLETED" && !job.has_report) actions.append(link(job, "outputs", "Outputs"));
  if (job.has_report) {
    actions.append(
      button("Check citations", () => checked(path)),
      button("Check sources for changes", () => refreshed(path)),
    );
  }
  if (job.status !== "COMPLETED" && job.started_at) actions.append(button("Go on where it stopped", () => goOn(path)));
  actions.append(button("Delete", removal));
  const question = form("A further question, whose answer joins the report", "Ask", async (text) => {
    await send(`${path}/questions`, { question: text });
    return "The question is a job of its own; its answer joins this report.";
  });
  yield details("More", ...(job.has_report ? [question] : []), actions, log(job));
}

function details(summary, ...children) {
  const made = element("details", {}, element("summary", {}, summary), element("div", { className: "rows" }, ...children));
  made.addEventListener("toggle", () => made.querySelector(".log")?.dispatchEvent(new Event("show")), { once: true });
  return made;
}

function oneField(label, text, act, work) {
  const field = element("input", { required: true, ariaLabel: label, placeholder: label });
  const form = element("form", { className: "line" }, field, element("button", {}, text));
  form.onsubmit = act(async () => {
    const said = await work(field.value);
    field.value = "";
    return said;
  });
  return form;
}

// What a job waits for: its plan to be approved, or an answer.
function waiting(job, act) {
  const made = element("div", { className: "rows" });
  const answered = (text) => send(`${JOBS}/${job.id}/answer`, { answer: text });
  read(`${JOBS}/${job.id}/plan`).then(
    (plan) => made.append(planForm(job, plan, act, answered)),
    () => made.append(element("p", {}, job.waiting_for ?? ""), oneField("Your answer", "Answer", act, answered)),
  );
  return made;
}

function planForm(job, plan, act, answered) {
  const { calls, tokens, cost } = plan.estimate;
  const takes = [`${calls} calls`];
  if (tokens) takes.push(`${tokens.toLocaleString()} tokens`);
  if (cost) takes.push(`${cost.toFixed(2)} USD`);
  const fields = [...plan.sub_queries, { query: "" }].map(({ query }, number) =>
    element("textarea", { rows: 2, value: query, ariaLabel: `Sub-query ${number + 1}`, placeholder: "One more" }),
  );
  const form = element("form", {}, element("p", {}, plan.research_brief ?? "The plan:"), ...fields);
  form.append(
    element("p", { className: "faint" }, `About ${takes.join(", ")}. An empty sub-query is left out.`),
    element("button", { className: "primary" }, "Approve the plan"),
  );
  form.onsubmit = act(async () => {
    const texts = fields.map((field) => field.value.trim());
    if (texts.slice(0, -1).some((text, number) => text !== plan.sub_queries[number].query) || texts.at(-1)) {
      const sub_queries = texts.map((query, number) => ({ ...plan.sub_queries[number], query })).filter((row) => row.query);
      const { research_brief, checklist } = plan;
      await send(`${JOBS}/${job.id}/plan`, { research_brief, sub_queries, checklist }, "PUT");
    }
    await answered("approved");
  });
  return form;
}

// A job that has ended does not begin again: another one goes on with what it has.
async function goOn(path) {
  await send(`${path}/forks`, {});
  return "A job of its own goes on from there.";
}

async function checked(path) {
  const found = await read(`${path}/verification`);
  const sentences = `${found.supported} of ${found.statements} statements are supported`;
  return `${found.valid} of ${found.citations} citations stand word for word in the archived sources; ${sentences}.`;
}

async function refreshed(path) {
  const { sources, sentences } = await send(`${path}/refresh`, { rewrite: false });
  const rows = sources.filter((source) => source.status !== "unchanged");
  if (!rows.length) return `None of the ${sources.length} cited sources has changed.`;
  const told = rows.map((source) => `[${source.n}] ${source.status.replace("_", " ")}`).join(", ");
  return `${told}; this touches ${sentences.length} sentences. The report stays as it is.`;
}

// The steps and calls of a job, as they happen, once they are asked for.
function log(job) {
  const made = element("div", { className: "log", role: "log" });
  made.addEventListener("show", () => follow(job, made).catch((error) => say(error.message)), { once: true });
  return made;
}

async function follow(job, made) {
  const reader = (await ask(`${JOBS}/${job.id}/events`)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (rest + part.value).split("\n\n");
    rest = events.pop();
    const isAtEnd = made.scrollTop + made.clientHeight >= made.scrollHeight - 4;
    made.append(...events.map(lineOf).filter(Boolean));
    while (made.childElementCount > MOST_LINES) made.firstElementChild.remove();
    if (isAtEnd) made.scrollTop = made.scrollHeight;
  }
}

function lineOf(text) {
  const data = /^data: (.*)$/m.exec(text)?.[1];
  if (!data) return null;
  const { type, at, path, kind, seconds, status } = JSON.parse(data);
  const time = at && new Date(at).toLocaleTimeString();
  const took = seconds === undefined ? "" : `  ${seconds.toFixed(2)} s`;
  if (type === "call_recorded") return element("div", {}, `${time}    ${path}: ${kind}${took}`);
  if (type === "node_finished" && !path.includes("/")) return element("div", {}, `${time}  ${path}${took}`);
  if (type === "run_ended") return element("div", {}, `${time}  ${status}`);
  return null;
}
