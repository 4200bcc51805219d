// @ts-check
// Client of the service: the session, JSON answers, and following of jobs.

/** @typedef {{ type: string, title: string, status: number, detail?: string, hint?: string }} Problem */
/** @typedef {{ id: string, recording: string, state: string, stage?: string, samples?: number, expected?: number, seconds?: number, problem?: Problem }} Job */

/** Error with the problem that the service returned. */
export class RequestError extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super([problem.title, problem.detail].filter(Boolean).join(": "));
    this.problem = problem;
  }
}

/** Exchanges the token in the address for a session, and removes it from the address.
 * @returns {Promise<void>} */
export async function openSession() {
  const match = /^#token=([0-9a-f]+)&?/.exec(location.hash);
  if (!match) return;
  const rest = location.hash.slice(match[0].length);
  history.replaceState(null, "", location.pathname + location.search + (rest ? "#" + rest : ""));
  await request("/session", { method: "POST", body: { token: match[1] } });
}

/** @param {Response} response @returns {Promise<Problem>} */
async function problemOf(response) {
  try {
    return await response.json();
  } catch {
    return { type: "", title: response.statusText || "No answer", status: response.status };
  }
}

/** Sends a request to the service.
 * @param {string} path @param {{ method?: string, body?: unknown, raw?: BodyInit }} [how] @returns {Promise<Response>} */
export async function request(path, how = {}) {
  /** @type {RequestInit} */
  const options = { method: how.method || "GET", credentials: "same-origin" };
  if (how.raw !== undefined) {
    options.body = how.raw;
    options.headers = { "content-type": "application/octet-stream" };
  } else if (how.body !== undefined) {
    options.body = JSON.stringify(how.body);
    options.headers = { "content-type": "application/json" };
  }
  const response = await fetch(path, options);
  if (!response.ok) throw new RequestError(await problemOf(response));
  return response;
}

/** Waits for a job.
 * @param {Job} job @param {(job: Job) => void} tell @returns {Promise<void>} */
export function follow(job, tell) {
  return new Promise((resolve, reject) => {
    const events = new EventSource("/api/v1/jobs/" + job.id + "/events");
    events.addEventListener("job", (event) => {
      /** @type {Job} */
      const now = JSON.parse(event.data);
      tell(now);
      if (now.state !== "done" && now.state !== "failed") return;
      events.close();
      if (now.problem) reject(new RequestError(now.problem));
      else resolve();
    });
    events.addEventListener("error", () => {
      // The browser reconnects by itself, unless the service refused.
      if (events.readyState === EventSource.CLOSED) reject(new Error("The service does not respond"));
    });
  });
}

/** Options of a run that are not text. */
const PLAIN = ["inlines", "off_cpu", "max_frames"];

/** Options of a run in an address, such as `?label=NAME=EVENT/FIELD`; several of one name are a list.
 * @param {string} search @returns {Record<string, unknown>} */
export function runOptions(search) {
  const given = new URLSearchParams(search);
  return Object.fromEntries([...new Set(given.keys())].map((name) => {
    const all = given.getAll(name);
    if (PLAIN.includes(name) && /^(true|false|\d+)$/.test(all[0])) return [name, JSON.parse(all[0])];
    return [name, all.length > 1 ? all : all[0]];
  }));
}

/** Ensures that a recording is analysed.
 * @param {{ id?: string, path?: string, fresh?: boolean, options?: Record<string, unknown> }} wanted @param {(job: Job) => void} tell @returns {Promise<void>} */
export async function analyze(wanted, tell) {
  const response = await request("/api/v1/recordings", { method: "POST", body: wanted });
  if (response.status === 202) await follow(await response.json(), tell);
}

/** Progress of a job, as text.
 * @param {Job} job @returns {string} */
export function progressText(job) {
  if (job.state === "queued") return "waiting for other jobs";
  if (job.state !== "running") return job.state;
  const part = job.expected ? ` ${Math.min(100, Math.round((100 * (job.samples || 0)) / job.expected))} %` : "";
  return (job.stage || "starting") + (job.stage === "unwinding" ? part : "");
}
