import { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { hasTime } from '../scenario.ts';
import { requireSettled } from '../support/watched-node.ts';
import { actions } from './rights-actions.ts';
import { createCanary, openRightsWorld, type RightsWorld } from './rights-world.ts';

const actionsPerSequence = 8;
const shortSequences = 6;

/** Random sequences of actions of two users. Private texts of one user must not reach the other. */
export const rights: Scenario = {
  name: 'rights',
  title: 'Rights of two users, their keys, and their applications',
  weight: 2,
  async run(ground) {
    const seed = ground.random.below(2 ** 20);
    await using world = await openRightsWorld();
    const before = await world.node.collectAndRead();
    const { isShort, inputs, match, tally, log } = ground;
    const count = inputs ?? (isShort ? shortSequences : Number.POSITIVE_INFINITY);
    const numbers = match === '' ? undefined : match.split(',').map(Number);
    for (let index = 0; index < (numbers?.length ?? count); index += 1) {
      if (numbers === undefined && inputs === undefined && !isShort && !hasTime(ground)) break;
      const sequence = numbers?.[index] ?? index;
      tally.count('sequences');
      const faults = await runSequence(world, new Random(seed * 1_000_003 + sequence), (name) => tally.count(name));
      for (const error of faults) tally.addFault(`sequence ${sequence}, seed ${seed}: ${error}`);
      if (numbers !== undefined) log(`sequence ${sequence}: ${faults.join('; ') || 'passed'}`);
    }
    await requireSettled(world.node, before, tally);
  },
};

/** Returns the faults with the actions that led to them. */
async function runSequence(world: RightsWorld, random: Random, count: (name: string) => void): Promise<readonly string[]> {
  const faults: string[] = [];
  const trail: string[] = [];
  const run: { ids: string[]; keysSeen: Set<string>; reply: object | undefined } = {
    ids: [],
    keysSeen: new Set(),
    reply: undefined,
  };
  for (let step = 0; step < actionsPerSequence && faults.length === 0; step += 1) {
    const action = random.pick(actions);
    world.received.length = 0;
    world.readings.length = 0;
    const outcome = await action.run({ world, random, run });
    trail.push(outcome.title);
    count('actions');
    count(outcome.wasAccepted ? 'accepted' : 'rejected');
    const wrong = [...outcome.faults, ...findLeaks(world, outcome.attackerSaw, action.isUserAction)];
    faults.push(...wrong.map((message) => `${message}, after ${trail.join(' → ')}`));
  }
  return faults;
}

/**
 * Finds private texts, identity, and keys of the victim in requests to programs of the attacker and in responses to the attacker.
 */
function findLeaks({ received, readings, users }: RightsWorld, attackerSaw: string, isUserAction: boolean): readonly string[] {
  const secret = createCanary('victim', 'private');
  const { victim } = users;
  const leaks: string[] = [];
  if (attackerSaw.includes(secret)) leaks.push("the attacker's answer has the victim's private text");
  if (readings.some(({ owner, text }) => owner === 'attacker' && text.includes(secret)))
    leaks.push("the attacker's program reads the victim's private file");
  for (const { program, owner, path, text, headers } of received) {
    if (owner === 'configured') continue;
    const sent = `${path} ${JSON.stringify(headers)} ${text}`;
    if (owner === 'attacker' && sent.includes(secret)) leaks.push(`${program} of the attacker is sent the victim's private text`);
    if ([victim.token, victim.boundKey].some((credential) => sent.includes(credential)))
      leaks.push(`${program} of ${owner} is sent a credential`);
    if (sent.includes('canary-identity'))
      leaks.push(`${program} of ${owner} is sent a header of a proxy, a cookie, or the query`);
    if (!isUserAction && owner === 'attacker' && headers['api-key'] !== undefined)
      leaks.push(`${program} of the attacker is sent a per-request key before the user acts`);
  }
  return leaks;
}
