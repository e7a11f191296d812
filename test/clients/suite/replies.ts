import { type ChatCompletionRequest, type Fixture, type FixtureResponse, LLMock } from '@copilotkit/aimock';

/** A red pixel, as programs send it. */
export const imageBase64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

const usage = { prompt_tokens: 11, completion_tokens: 13, input_tokens: 11, output_tokens: 13 };
const forecast = { city: 'Paris', degrees: 21 };

/** Enough to go on for half a minute. */
const slowWords = Array.from({ length: 600 }, (_, at) => `${at}`.padStart(3, '0')).join(' ');

function weatherIn(...cities: readonly string[]): FixtureResponse {
  const toCall = (city: string) => ({ name: 'get_weather', arguments: JSON.stringify({ city }), id: `call_${city}` });
  return { toolCalls: cities.map(toCall), usage };
}

/** Whether the model's turn follows results of its tools. */
function hasResults({ messages }: ChatCompletionRequest): boolean {
  return messages.at(-1)?.role === 'tool';
}

/** Calls of tools while there are no results; says so if there is nothing to call. */
function callTools(request: ChatCompletionRequest, cities: readonly string[], last: string): FixtureResponse {
  if (hasResults(request)) return { content: last, usage };
  return request.tools?.some(({ function: { name } }) => name === 'get_weather')
    ? weatherIn(...cities)
    : { content: 'No tool came.', usage };
}

/** The forecast by a tool if there is one, else as the text. */
function tellForecast({ tools }: ChatCompletionRequest): FixtureResponse {
  const name = tools?.[0]?.function.name;
  const text = JSON.stringify(forecast);
  return name === undefined ? { content: text, usage } : { toolCalls: [{ name, arguments: text, id: 'call_forecast' }], usage };
}

/** What the upstream says to each prompt of the programs, in the dialect of OpenAI and of Anthropic. */
export function toFixtures(): Fixture[] {
  const mock = new LLMock();
  mock.on(
    { model: 'gpt-busy' },
    { error: { message: 'Slow down.', type: 'requests', code: 'rate_limit_exceeded' }, status: 429, retryAfter: 1 },
  );
  mock.onMessage(/Weather in Paris and Oslo/, (request) =>
    callTools(request, ['Paris', 'Oslo'], 'It is sunny in Paris and it rains in Oslo.'),
  );
  mock.onMessage(/Weather in Paris/, (request) => callTools(request, ['Paris'], 'It is sunny in Paris.'));
  mock.onMessage(/Forecast for Paris/, tellForecast);
  mock.onMessage(/What is in the picture/, { content: 'A red square.', usage });
  mock.onMessage(/Too long/, {
    error: { message: 'Too many tokens.', type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    status: 400,
  });
  mock.onMessage(/Count slowly/, { content: slowWords, usage }, { latency: 50 });
  mock.onMessage(/Say hello/, { content: 'Hello! Grüße, 你好 😀, from the mock.', usage });
  return [...mock.getFixtures()];
}
