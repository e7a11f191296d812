import { type ChatCompletionRequest, type Fixture, type FixtureResponse, LLMock } from '@copilotkit/aimock';

/** A red pixel that the programs send. */
export const imageBase64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

const usage = { prompt_tokens: 11, completion_tokens: 13, input_tokens: 11, output_tokens: 13 };
const forecast = { city: 'Paris', degrees: 21 };

/** Long enough for half a minute. */
const slowWords = Array.from({ length: 600 }, (_, index) => `${index}`.padStart(3, '0')).join(' ');

function createWeatherCalls(...cities: readonly string[]): FixtureResponse {
  const toCall = (city: string) => ({ name: 'get_weather', arguments: JSON.stringify({ city }), id: `call_${city}` });
  return { toolCalls: cities.map(toCall), usage };
}

/** Returns whether the request ends with tool results. */
function hasResults({ messages }: ChatCompletionRequest): boolean {
  return messages.at(-1)?.role === 'tool';
}

/** Calls tools until there are results, then answers with `last`. Without tools, answers with an error text. */
function callTools(request: ChatCompletionRequest, cities: readonly string[], last: string): FixtureResponse {
  if (hasResults(request)) return { content: last, usage };
  return request.tools?.some(({ function: { name } }) => name === 'get_weather')
    ? createWeatherCalls(...cities)
    : { content: 'No tool came.', usage };
}

/** Returns the forecast through a tool if the request has one, otherwise as text. */
function answerForecast({ tools }: ChatCompletionRequest): FixtureResponse {
  const name = tools?.[0]?.function.name;
  const text = JSON.stringify(forecast);
  return name === undefined ? { content: text, usage } : { toolCalls: [{ name, arguments: text, id: 'call_forecast' }], usage };
}

/** Returns the replies of the upstream to each prompt of the programs, for the OpenAI and Anthropic APIs. */
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
  mock.onMessage(/Forecast for Paris/, answerForecast);
  mock.onMessage(/What is in the picture/, { content: 'A red square.', usage });
  mock.onMessage(/Too long/, {
    error: { message: 'Too many tokens.', type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    status: 400,
  });
  mock.onMessage(/Count slowly/, { content: slowWords, usage }, { latency: 50 });
  mock.onMessage(/Say hello/, { content: 'Hello! Grüße, 你好 😀, from the mock.', usage });
  return [...mock.getFixtures()];
}
