import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Service } from '../service/service.ts';
import { ServiceError } from '../service/service-error.ts';
import { BackgroundAnswers } from './background-answers.ts';

const toResponse = (...events: string[]) => new Response(events.map((event) => `data: ${event}\n\n`).join(''));
const fail = (status: number, code: string) => new ServiceError({ status, code, message: '' });

/** Returns the sequence numbers of the streamed events, and the requested paths, for these replies of the service. */
async function follow(...replies: (Response | ServiceError)[]) {
  const paths: string[] = [];
  const send = async (path: string): Promise<Response> => {
    paths.push(path);
    const reply = replies.shift();
    if (reply instanceof Response) return reply;
    throw reply;
  };
  const answers = new BackgroundAnswers({ send } as unknown as Service);
  const sequence: unknown[] = [];
  const { signal } = new AbortController();
  const onDisconnect = (): void => queueMicrotask(() => vi.runAllTimers());
  for await (const event of answers.follow('r', { signal, onDisconnect })) sequence.push(event.sequence_number);
  return { sequence, paths };
}

describe('BackgroundAnswers.follow', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('resumes after the last event if the connection is lost or a proxy cannot reach the service', async () => {
    const first = toResponse('{"sequence_number":0}');
    const rest = toResponse('{"sequence_number":1}', '[DONE]');
    const { sequence, paths } = await follow(first, fail(0, 'connection_lost'), fail(502, 'status_502'), rest);
    expect(sequence).toEqual([0, 1]);
    const resumed = 'v1/responses/r?stream=true&starting_after=0';
    expect(paths).toEqual(['v1/responses/r?stream=true', resumed, resumed, resumed]);
  });

  it('throws other errors', async () => {
    await expect(follow(fail(404, 'response_not_found'))).rejects.toMatchObject({ details: { status: 404 } });
  });
});
