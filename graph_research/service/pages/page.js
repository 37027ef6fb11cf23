"use strict";

const JOBS = "api/research/jobs";
const DOCUMENTS = "api/library/documents";
const OVER = new Set(["COMPLETED", "FAILED", "CANCELLED", "EXPIRED"]);
const FORMATS = { html: "Report", md: "Markdown", docx: "Word", pdf: "PDF" };
const SOON = 1500;
const LATER = 10000;
const shown = new Map(); // by the id of a job: its JSON and its element
let timer;

const byId = (id) => document.getElementById(id);

function element(name, fields, ...children) {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...children);
  return made;
}

function say(text) {
  byId("message").textContent = text;
}

async function ask(path, options = {}) {
  const token = sessionStorage.getItem("token");
  const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
  const answer = await fetch(path, { ...options, headers });
  if (answer.ok) return answer;
  if (answer.status === 401) {
    byId("token").hidden = false;
    byId("main").hidden = true;
  }
  const problem = await answer.json();
  throw new Error(problem.detail);
}

function send(path, body) {
  return ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

// What a user does: it is done, and the page is brought up to date.
function act(work) {
  return async (event) => {
    event.preventDefault();
    try {
      say("");
      await work(event);
      await refresh();
    } catch (error) {
      say(error.message);
    }
  };
}

// A report needs the token, which a plain link does not send: with one it is saved as a file.
function reportLink(job, format) {
  const name = `report.${format}`;
  const href = `${JOBS}/${job.id}/${name}`;
  const link = element("a", { href, target: "_blank", rel: "noreferrer" }, FORMATS[format]);
  if (sessionStorage.getItem("token")) {
    link.onclick = act(async () => {
      const file = URL.createObjectURL(await (await ask(href)).blob());
      element("a", { href: file, download: `${job.id}-${name}` }).click();
      setTimeout(() => URL.revokeObjectURL(file), LATER);
    });
  }
  return link;
}

function answerForm(job) {
  const field = element("input", { required: true, ariaLabel: "Your answer" });
  const form = element("form", {}, field, element("button", {}, "Answer"));
  form.onsubmit = act(() => send(`${JOBS}/${job.id}/answer`, { answer: field.value }));
  return form;
}

function jobElement(job) {
  const stage = job.status === "PROCESSING" && job.stage ? `: ${job.stage}` : "";
  const status = `${job.status.toLowerCase().replace("_", " ")}${stage}, ${new Date(job.created_at).toLocaleString()}`;
  const made = element("article", { id: job.id }, element("p", {}, job.question));
  made.append(element("p", { className: "status" }, status));
  if (job.error) made.append(element("p", {}, job.error.message));
  if (job.waiting_for) made.append(element("p", {}, job.waiting_for), answerForm(job));
  if (job.status === "COMPLETED") {
    made.append(element("p", { className: "links" }, ...Object.keys(FORMATS).map((format) => reportLink(job, format))));
  }
  if (!OVER.has(job.status)) {
    const cancel = act(() => ask(`${JOBS}/${job.id}/cancel`, { method: "POST" }));
    made.append(element("progress", { value: job.progress, ariaLabel: "Progress" }));
    made.append(element("button", { onclick: cancel }, "Cancel"));
  }
  return made;
}

function showJobs(jobs) {
  for (const job of [...jobs].reverse()) {
    const text = JSON.stringify(job);
    const before = shown.get(job.id);
    if (before?.text === text) continue; // what is typed into it stays
    const made = jobElement(job);
    before ? before.made.replaceWith(made) : byId("jobs").prepend(made);
    shown.set(job.id, { text, made });
  }
}

function documentElement(item) {
  const remove = act(() => ask(`${DOCUMENTS}/${encodeURIComponent(item.name)}`, { method: "DELETE" }));
  const button = element("button", { onclick: remove, ariaLabel: `Delete ${item.name}` }, "Delete");
  return element("li", {}, item.name, item.problem ? ` (${item.problem}) ` : " ", button);
}

async function refreshJobs() {
  clearTimeout(timer);
  const { jobs } = await (await ask(JOBS)).json();
  showJobs(jobs);
  timer = setTimeout(attempt, jobs.every((job) => OVER.has(job.status)) ? LATER : SOON, refreshJobs);
}

async function refresh() {
  await refreshJobs();
  const { documents } = await (await ask(DOCUMENTS)).json();
  byId("documents").replaceChildren(...documents.map(documentElement));
  byId("token").hidden = true;
  byId("main").hidden = false;
}

// A service that does not answer is asked again; a token that is missing is waited for.
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    say(error.message);
    if (byId("token").hidden) timer = setTimeout(attempt, LATER, refresh);
  }
}

byId("token").onsubmit = act(() => sessionStorage.setItem("token", byId("token-text").value));

byId("question").onsubmit = act(async () => {
  await send(JOBS, { question: byId("question-text").value });
  byId("question-text").value = "";
});

byId("files").onchange = act(async (event) => {
  for (const file of event.target.files) {
    await ask(`${DOCUMENTS}/${encodeURIComponent(file.name)}`, { method: "PUT", body: file });
  }
  event.target.value = "";
});

attempt(refresh);
