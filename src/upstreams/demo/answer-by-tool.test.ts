import { afterAll, describe, expect, it } from 'vitest';
import { LocalEmbedder } from '#base/embedding/local-embedder.ts';
import { neverAborted } from '#test/demo-model.ts';
import { findFittingTool, scoreTools, splitClauses } from './answer-by-tool.ts';

const embedder = new LocalEmbedder();
afterAll(() => embedder.close());

const tools = Object.entries({
  get_weather: 'Get the current weather in a city',
  add: 'Adds two numbers',
  get_current_time: 'Get the current time in a time zone',
  send_email: 'Sends an e-mail to somebody',
  echo: 'Echoes back the input string',
  pets_list: 'List all pets of the store, optionally by status',
  convert_currency: 'Convert an amount of money from one currency to another',
  translator: 'An application that translates text to another language',
  pick_colour: 'Asks the user to pick a colour in the browser',
  getUserById: '',
  book_flight: 'Book a flight for a passenger',
  printEnv: 'Prints all environment variables, helpful for debugging MCP server configuration',
  longRunningOperation: 'Demonstrates a long running operation with progress updates',
}).map(([name, description]) => ({ name, description, parameters: {} }));
const searching = { name: 'query_document', description: 'Search the documents of this application', parameters: {} };

async function pickTool(question: string, offered = tools): Promise<string | undefined> {
  return findFittingTool(question, await scoreTools(question, offered, { embedder, signal: neverAborted }))?.name;
}

describe('findFittingTool with the standard tools', () => {
  it.each([
    ['What is the weather in Paris?', 'get_weather'],
    ['Is it going to rain tomorrow in Berlin?', 'get_weather'],
    ['temperature in Oslo', 'get_weather'],
    ['What is 2 plus 3?', 'add'],
    ['Add 2 and 3', 'add'],
    ['What time is it in Tokyo?', 'get_current_time'],
    ['Send Anna a mail that I am late', 'send_email'],
    ['echo hello world', 'echo'],
    ['Which pets are available?', 'pets_list'],
    ['How much is 100 euro in dollars?', 'convert_currency'],
    ['Translate "good morning" into French', 'translator'],
    ['Let the user choose a colour', 'pick_colour'],
    ['show me the user with id 42', 'getUserById'],
    ['I need a flight to Rome on Friday', 'book_flight'],
    ['Run a long operation for 5 seconds', 'longRunningOperation'],
    ['please use pets_list', 'pets_list'],
  ])('picks a tool for %j: %s', async (question, name) => {
    expect(await pickTool(question)).toBe(name);
  });
});

describe('findFittingTool without a fitting tool', () => {
  it.each([
    'Tell me a joke',
    'How many vacation days do employees get?',
    'What does the handbook say about remote work?',
    'Who wrote the handbook?',
    'Who won the world cup in 1998?',
    'Say hello world',
    'show me everything',
    'Write a poem about the sea',
    'Thanks, that is great',
    'Count to 20',
    'Show me controls',
    'Give me an attachment',
    'Explain quantum physics',
    'Do you like Paris?',
    'What is the capital of France?',
    'Describe the animal with the long neck.',
  ])('picks no tool for %j', async (question) => {
    expect(await pickTool(question)).toBeUndefined();
  });

  it('picks no tool for a joke if only the weather is offered', async () => {
    expect(await pickTool('Tell me a joke', tools.slice(0, 1))).toBeUndefined();
  });
});

describe('a search tool', () => {
  it('answers the questions that no other tool fits', async () => {
    expect(await pickTool('How many vacation days do employees get?', [...tools, searching])).toBe('query_document');
    expect(await pickTool('What is the weather in Paris?', [...tools, searching])).toBe('get_weather');
  });

  it('is not used for text that is not a question', async () => {
    expect(await pickTool('Tell me a joke', [...tools, searching])).toBeUndefined();
  });
});

describe('a message with several questions', () => {
  it('is split into its questions', () => {
    expect(splitClauses('What is the weather in Paris and what time is it in Tokyo?')).toEqual([
      'What is the weather in Paris',
      'what time is it in Tokyo?',
    ]);
  });

  it.each(['Add 2 and 3', 'What is the weather in Paris?', '', 'and', 'one and two and three and four and five'])(
    '%j is one question',
    (question) => {
      expect(splitClauses(question)).toEqual([question]);
    },
  );
});

describe('a question without an argument that the nearest tool requires', () => {
  const status = {
    name: 'book_status',
    description: 'Returns whether a book with this title is on the shelf or lent',
    parameters: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
  };
  const hours = {
    name: 'opening_hours',
    description: 'Returns the opening hours of the library on a day of the week',
    parameters: { type: 'object', properties: { day: { enum: ['monday', 'sunday'] } }, required: ['day'] },
  };

  it.each([
    ['How long may I keep a borrowed book?', 'query_document'],
    ['Is the book "The Hobbit" on the shelf?', 'book_status'],
    ['When is the workshop open?', 'query_document'],
    ['When does the library open on Monday?', 'opening_hours'],
  ])('is searched for: %j goes to %s', async (question, name) => {
    expect(await pickTool(question, [status, hours, searching])).toBe(name);
  });

  it('goes to the nearest tool if there is no search tool', async () => {
    expect(await pickTool('How long may I keep a borrowed book?', [status, hours])).toBe('book_status');
  });
});
