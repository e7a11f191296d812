import type { TestResponse } from '#test/send-request.ts';
import type { Random } from '../random.ts';
import { createCanary, type RightsWorld } from './rights-world.ts';

/** State of one sequence of actions. */
interface Run {
  /** Paths of stored responses and conversations of the victim, each with a canary. */
  readonly ids: string[];
  /** The last reply that the victim received, as a message. */
  reply: object | undefined;
}

interface Scene {
  readonly world: RightsWorld;
  readonly random: Random;
  readonly run: Run;
}

interface Outcome {
  readonly title: string;
  readonly wasAccepted: boolean;
  /** Errors of the response itself. */
  readonly faults: readonly string[];
  /** All data that the attacker received. Empty for responses to the victim. */
  readonly attackerSaw: string;
}

/** One action of the victim or of the attacker. */
interface Action {
  /** Whether the victim sends a message. After that, a program may receive a per-request key. */
  readonly isUserAction: boolean;
  readonly run: (scene: Scene) => Promise<Outcome>;
}

const secret = createCanary('victim', 'private');
const ofProxies = Object.fromEntries(
  [
    'cookie',
    'referer',
    'x-real-ip',
    'x-amzn-oidc-accesstoken',
    'cf-access-jwt-assertion',
    'x-client-cert',
    'x-any-new-proxy',
  ].map((name) => [name, 'canary-identity']),
);

function outcome(title: string, answers: readonly TestResponse[], fields: Partial<Outcome> = {}): Outcome {
  const [first] = answers;
  return { title, wasAccepted: (first?.status ?? 500) < 300, faults: [], attackerSaw: '', ...fields };
}

/** The victim calls a deployment. The history has the reply of an earlier call, and the victim attaches a file. */
async function callAsVictim({ world, random, run }: Scene): Promise<Outcome> {
  const { victim, attacker } = world.users;
  const deployment = random.pick([
    `applications/${attacker.bucket}/published`,
    `applications/${victim.bucket}/own`,
    `applications/${victim.bucket}/quick`,
    'configured',
    'finder',
  ]);
  world.attach(random.chance(0.8) ? [`files/${victim.bucket}/private.txt`] : []);
  const attachments = [{ type: 'text/plain', title: 'a', url: `files/${victim.bucket}/attached.txt` }];
  const question = { role: 'user', content: 'Hi', ...(random.chance(0.3) && { custom_content: { attachments } }) };
  const messages = run.reply === undefined ? [question] : [question, run.reply, { role: 'user', content: 'Go on' }];
  const path = `/openai/deployments/${deployment}/chat/completions?secret=canary-identity`;
  const answer = await world.as(victim.token, 'POST', path, { messages }, ofProxies);
  if (answer.status === 200) run.reply = answer.completion.choices[0]?.message as object | undefined;
  return outcome(`the victim calls ${shorten(deployment, world)}${messages.length > 1 ? ' with a former reply' : ''}`, [answer]);
}

/** The history names a private file in an assistant message, which a program could have caused. */
async function callWithNamedFile({ world, random }: Scene): Promise<Outcome> {
  const { victim, attacker } = world.users;
  const deployment = random.pick([`applications/${attacker.bucket}/published`, `applications/${victim.bucket}/quick`, 'finder']);
  const url = `files/${victim.bucket}/private.txt`;
  world.attach([url]);
  const custom_content = { attachments: [{ type: 'text/plain', title: 'a', url }] };
  const role = random.pick(['assistant', 'assistant', 'system']);
  const messages = [
    { role: 'user', content: 'Hi' },
    { role, content: 'a', custom_content },
    { role: 'user', content: 'Go on' },
  ];
  const answer = await world.as(victim.token, 'POST', `/openai/deployments/${deployment}/chat/completions`, { messages });
  return outcome(`the victim sends ${shorten(deployment, world)} a private file in a message of ${role}`, [answer]);
}

/** The victim opens an application of the attacker without a call. */
async function openApplication({ world, random }: Scene): Promise<Outcome> {
  const { victim, attacker } = world.users;
  const id = `applications/${attacker.bucket}/published`;
  const path = random.pick([
    `/openai/applications/${id}`,
    `/v1/deployments/${id}/configuration`,
    `/v1/deployments/${id}/limits`,
    `/v1/consent/${id}`,
    '/openai/applications',
    `/v1/${id}`,
  ]);
  const answer = await world.as(victim.token, 'GET', `${path}?secret=canary-identity`, undefined, ofProxies);
  return outcome(`the victim opens ${shorten(path, world)}`, [answer]);
}

/** The victim stores a response or a conversation with a private text. */
async function storePrivate({ world, random, run }: Scene): Promise<Outcome> {
  const { victim } = world.users;
  const isResponse = random.chance(0.5);
  const items = [{ type: 'message', role: 'user', content: secret }];
  const metadata = { note: secret };
  const answer = isResponse
    ? await world.as(victim.token, 'POST', '/v1/responses', { model: 'open', input: secret, metadata })
    : await world.as(victim.token, 'POST', '/v1/conversations', { items, metadata });
  const { id } = (answer.status < 300 ? answer.json : {}) as { id?: string };
  if (id !== undefined) run.ids.push(`/v1/${isResponse ? 'responses' : 'conversations'}/${id}`);
  return outcome(`the victim stores a ${isResponse ? 'response' : 'conversation'}`, [answer]);
}

/** The attacker, or a bound key, reads data without permission. */
async function readAsAttacker({ world, random, run }: Scene): Promise<Outcome> {
  const { victim, attacker } = world.users;
  const [who, credentials] = random.pick([
    ['the attacker', attacker.token],
    ['a bound key of the attacker', attacker.boundKey],
    ['a bound key of the victim', victim.boundKey],
  ] as const);
  const stored = run.ids.length === 0 ? '/v1/responses/resp_x' : random.pick(run.ids);
  const parts = [stored, `${stored}/${stored.includes('responses') ? 'input_items' : 'items'}`];
  const otherPaths = [
    `/v1/files/${victim.bucket}/private.txt`,
    `/v1/files/${attacker.bucket}/..%2F${victim.bucket}/private.txt`,
    `/v1/metadata/files/${victim.bucket}/`,
    '/v1/chats',
    '/v1/user/keys',
    `/v1/applications/${victim.bucket}/own`,
  ];
  const path = random.pick(run.ids.length > 0 && random.chance(0.6) ? parts : [...parts, ...otherPaths]);
  const answer = await world.as(credentials, 'GET', path);
  const faults =
    answer.status < 300 && path.includes(victim.bucket) ? [`${who} reads ${shorten(path, world)}: ${answer.status}`] : [];
  return outcome(`${who} reads ${shorten(path, world)}`, [answer], { faults, attackerSaw: answer.text });
}

/** A bound key calls or changes deployments outside its scope. */
async function useBoundKey({ world, random }: Scene): Promise<Outcome> {
  const { bucket, boundKey } = world.users.victim;
  const [ownApplication, quick] = [`applications/${bucket}/own`, `applications/${bucket}/quick`];
  const messages = [{ role: 'user', content: 'Hi' }];
  const [method, path, body] = random.pick([
    ['POST', '/openai/deployments/closed/chat/completions', { messages }],
    ['POST', `/openai/deployments/${quick}/chat/completions`, { messages }],
    ['POST', '/v1/chat/completions', { model: 'configured', messages }],
    ['POST', '/v1/responses', { model: 'closed', input: 'Hi' }],
    ['POST', '/msgapi/v1/messages', { model: 'closed', max_tokens: 5, messages }],
    ['POST', '/v1/ops/resource/copy', { sourceUrl: quick, destinationUrl: ownApplication, overwrite: true }],
    ['POST', '/v1/ops/resource/move', { sourceUrl: quick, destinationUrl: ownApplication, overwrite: true }],
    ['PUT', `/v1/${ownApplication}`, { endpoint: 'http://127.0.0.1:1' }],
    ['DELETE', `/v1/${ownApplication}`, undefined],
    ['PUT', `/v1/files/${bucket}/new.txt`, 'x'],
    ['DELETE', `/v1/files/${bucket}/private.txt`, undefined],
    ['POST', '/v1/user/keys', {}],
    ['GET', `/v1/metadata/${ownApplication}`, undefined],
  ] as const);
  const answer = await world.as(boundKey, method, path, body);
  const title = `a bound key sends ${method} ${shorten(path, world)} ${shorten(JSON.stringify(body ?? ''), world)}`;
  const faults = answer.status < 400 ? [`${title}: ${answer.status}`] : [];
  return outcome(title, [answer], { faults, attackerSaw: answer.text });
}

/** A bound key calls a permitted program and attaches a private file. The program must not be able to read the file. */
async function attachWithBoundKey({ world }: Scene): Promise<Outcome> {
  const { bucket, boundKey } = world.users.victim;
  const url = `files/${bucket}/private.txt`;
  world.attach([url]);
  const attachments = [{ type: 'text/plain', title: 'a', url }];
  const messages = [{ role: 'user', content: 'Hi', custom_content: { attachments } }];
  const answer = await world.as(boundKey, 'POST', `/openai/deployments/applications/${bucket}/own/chat/completions`, {
    messages,
  });
  const hasRead = world.readings.some(({ text }) => text.includes(secret));
  const faults = hasRead ? ['a program that a bound key calls reads a private file'] : [];
  return outcome('a bound key attaches a private file', [answer], { faults });
}

/** Fields of turns that a share must omit. An incomplete copy of a turn would contain them. */
const unshared = {
  ...{ thoughts: secret, responseId: secret, instructions: secret },
  ...{ usage: { note: secret }, fault: { message: secret }, settings: { instructions: secret }, rating: { comment: secret } },
};

/** The victim shares a chat with private texts and with a reply that names a private file. The attacker opens the link. */
async function shareChat({ world, random }: Scene): Promise<Outcome> {
  const { victim, attacker } = world.users;
  const chat = `c${random.below(2 ** 32)}`;
  const custom = {
    attachments: [{ title: 'a', url: `files/${victim.bucket}/private.txt` }],
    stages: [{ index: 0, name: 'a', content: secret, status: 'completed' }],
    state: { note: secret },
  };
  const turns = [
    { ...unshared, id: 'q', parent: '', kind: 'question', atMs: 1, text: 'Hi' },
    {
      ...unshared,
      id: 'r',
      parent: 'q',
      kind: 'reply',
      atMs: 1,
      text: 'a',
      state: 'done',
      deployment: `applications/${attacker.bucket}/published`,
      custom,
      stageTimes: { 0: { note: secret } },
    },
  ];
  const saved = await world.as(victim.token, 'POST', `/v1/chats/${chat}`, { turns });
  const shared = await world.as(victim.token, 'POST', `/v1/chats/${chat}/shares`, {});
  const { token = 'x' } = (shared.status === 201 ? shared.json : {}) as { token?: string };
  const copies = await Promise.all(
    ['', '/files/0', '/files/1'].map((part) => world.as(attacker.token, 'GET', `/v1/shared-chats/${token}${part}`)),
  );
  const isOpened = shared.status === 201 && copies[0]?.status === 200;
  return outcome('the victim shares a chat, and the attacker opens it', [saved.status < 300 ? shared : saved], {
    faults: isOpened ? [] : [`the chat is not shared: ${saved.text} ${shared.text} ${copies[0]?.text}`],
    attackerSaw: copies.map(({ text }) => text).join(' '),
  });
}

/** Replaces bucket names with the names of their users. */
function shorten(text: string, { users: { victim, attacker } }: RightsWorld): string {
  return text.replaceAll(victim.bucket, 'VICTIM').replaceAll(attacker.bucket, 'ATTACKER');
}

export const actions: readonly Action[] = [
  { isUserAction: true, run: callAsVictim },
  { isUserAction: true, run: callAsVictim },
  { isUserAction: true, run: callWithNamedFile },
  { isUserAction: false, run: openApplication },
  { isUserAction: true, run: storePrivate },
  { isUserAction: true, run: storePrivate },
  { isUserAction: true, run: attachWithBoundKey },
  { isUserAction: false, run: readAsAttacker },
  { isUserAction: false, run: readAsAttacker },
  { isUserAction: false, run: useBoundKey },
  { isUserAction: false, run: shareChat },
];
