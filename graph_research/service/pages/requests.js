// Requests to the service, and what they say to the user.

export const JOBS = "api/research/jobs";
export const DOCUMENTS = "api/library/documents";
const COOKIE = "graph-research-token";

export const byId = (id) => document.getElementById(id);

export function element(name, fields = {}, ...children) {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...children);
  return made;
}

export function say(text) {
  byId("message").textContent = text ?? "";
}

export const token = () => sessionStorage.getItem("token");

// The token stays in this tab. Links to reports cannot send a header: for them it is in a cookie too, which only reads.
export function useToken(text) {
  text ? sessionStorage.setItem("token", text) : sessionStorage.removeItem("token");
  const path = new URL(JOBS, document.baseURI).pathname;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const age = text ? "" : "; Max-Age=0";
  document.cookie = `${COOKIE}=${encodeURIComponent(text ?? "")}; Path=${path}; SameSite=Strict${secure}${age}`;
}

export async function ask(path, options = {}) {
  const headers = { ...options.headers, ...(token() && { Authorization: `Bearer ${token()}` }) };
  const answer = await fetch(path, { ...options, headers });
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({ detail: `the service answers with ${answer.status}` }));
  const text = problem.help ? `${problem.detail}; ${problem.help}` : problem.detail;
  throw Object.assign(new Error(text), { status: answer.status });
}

export const read = async (path) => (await ask(path)).json();

export async function send(path, body, method = "POST") {
  const headers = { "Content-Type": "application/json" };
  return (await ask(path, { method, headers, body: JSON.stringify(body ?? {}) })).json();
}
