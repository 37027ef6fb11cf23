// The page: a question, jobs and documents, over the API of the service.

import { OVER, jobElement } from "./jobs.js";
import { DOCUMENTS, JOBS, ask, byId, element, read, say, send, token, useToken } from "./requests.js";

const SOON = 1500;
const LATER = 10000;
const PAGE = 20;
const shown = new Map(); // by the id of a job, as `jobElement` gave it
let most = PAGE;
let timer;

// A listener for what a user does: it is done, the page is brought up to date, and a text that it gives is said.
function act(work) {
  return async (event) => {
    event.preventDefault();
    const button = event.submitter ?? (event.currentTarget.tagName === "BUTTON" ? event.currentTarget : null);
    if (button) button.disabled = true;
    try {
      say("");
      const said = await work(event);
      await refresh();
      if (typeof said === "string") say(said);
    } catch (error) {
      failed(error);
    } finally {
      if (button) button.disabled = false;
    }
  };
}

function failed(error) {
  say(error.message);
  if (error.status !== 401) return;
  byId("token").hidden = false;
  byId("main").hidden = byId("sign-out").hidden = true;
}

function showJobs(jobs) {
  const ids = new Set(jobs.map((job) => job.id));
  for (const [id, { made }] of shown) {
    if (ids.has(id)) continue;
    made.remove();
    shown.delete(id);
  }
  jobs.forEach((job, number) => {
    const before = shown.get(job.id);
    if (before && JSON.stringify(before.job) === JSON.stringify(job)) return;
    const after = jobElement(job, act, before);
    if (!before) byId("jobs").insertBefore(after.made, byId("jobs").children[number]);
    shown.set(job.id, after);
  });
  byId("no-jobs").hidden = jobs.length > 0;
}

async function jobsShown() {
  const jobs = [];
  let next = null;
  do {
    const before = next ? `&before=${next}` : "";
    const page = await read(`${JOBS}?limit=${Math.min(100, most - jobs.length)}${before}`);
    jobs.push(...page.jobs);
    next = page.next;
  } while (next && jobs.length < most);
  byId("older").hidden = !next;
  return jobs;
}

async function refreshJobs() {
  clearTimeout(timer);
  const jobs = await jobsShown();
  showJobs(jobs);
  timer = setTimeout(attempt, jobs.every((job) => OVER.has(job.status)) ? LATER : SOON, refreshJobs);
}

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function documentElement(item) {
  const remove = act(() => ask(`${DOCUMENTS}/${encodeURIComponent(item.name)}`, { method: "DELETE" }));
  return element(
    "li",
    {},
    element("span", { className: "name" }, item.name, item.problem ? ` (${item.problem})` : ""),
    element("span", { className: "faint" }, size(item.bytes)),
    element("button", { onclick: remove, ariaLabel: `Delete ${item.name}` }, "Delete"),
  );
}

async function refresh() {
  await refreshJobs();
  const { documents } = await read(DOCUMENTS);
  byId("documents").replaceChildren(...documents.map(documentElement));
  if (byId("main").hidden) await showOptions();
  byId("token").hidden = true;
  byId("main").hidden = false;
  byId("sign-out").hidden = !token();
}

// Only what this service offers can be chosen.
async function showOptions() {
  const { models, searches } = await read("api/research/options");
  const { model, search } = byId("question").elements;
  model.replaceChildren(model.options[0], ...models.map((name) => element("option", {}, name)));
  model.parentElement.hidden = models.length < 2;
  for (const choice of search.options) {
    choice.hidden = choice.disabled = !choice.value.split(" ").every((name) => !name || searches.includes(name));
  }
}

// A service that does not answer is asked again; a token that is missing is waited for.
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    failed(error);
    if (byId("token").hidden) timer = setTimeout(attempt, LATER, refresh);
  }
}

const SOURCE_RULES = ["published_from", "published_until", "allow_domains", "deny_domains"];

function submission(form) {
  const rules = SOURCE_RULES.map((name) => [name, form.elements[name].value.trim()]).filter(([, value]) => value);
  const { length, report_type, search, model, interactive, plan_first } = form.elements;
  const chosen = { length: length.value, report_type: report_type.value, model: model.value };
  return {
    question: byId("question-text").value,
    ...Object.fromEntries(Object.entries(chosen).filter(([, value]) => value)),
    ...(rules.length && { source_rules: Object.fromEntries(rules) }),
    ...(search.value && { search: search.value.split(" ") }),
    ...(interactive.checked && { interactive: true }),
    ...(plan_first.checked && { plan_first: true }),
  };
}

byId("message").onclick = () => say("");

byId("token").onsubmit = act(() => useToken(byId("token-text").value.trim()));

byId("sign-out").onclick = () => {
  useToken(null);
  location.reload();
};

byId("question").onsubmit = act(async () => {
  await send(JOBS, submission(byId("question")));
  byId("question-text").value = "";
});

byId("older").onclick = act(() => {
  most += PAGE;
});

byId("files").onchange = act(async (event) => {
  const input = event.target;
  for (const file of input.files) {
    await ask(`${DOCUMENTS}/${encodeURIComponent(file.name)}`, { method: "PUT", body: file });
  }
  input.value = "";
});

if (token()) useToken(token());
attempt(refresh);
