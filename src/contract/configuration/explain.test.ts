import { Type } from 'typebox';
import { Settings } from 'typebox/system';
import { describe, expect, it } from 'vitest';
import { explain } from './explain.ts';
import { strict } from './fields.ts';

const description = '';
const schema = strict(
  {
    either: Type.Optional(Type.Union([Type.String(), Type.Array(Type.Integer())])),
    form: Type.Optional(
      Type.Union([
        Type.Null(),
        strict({ kind: Type.Literal('a'), size: Type.Number({ minimum: 2 }) }, { description }),
        strict({ kind: Type.Literal('b'), sizes: Type.Array(Type.Number(), { minItems: 2 }) }, { description }),
      ]),
    ),
    'odd/name': Type.Optional(Type.Literal(3)),
    word: Type.Optional(Type.Union([Type.Enum(['left', 'right']), Type.Null()])),
  },
  { description },
);

describe('explain', () => {
  it.each([
    [{}, []],
    [{ either: 'x', form: null, 'odd/name': 3 }, []],
    [3, [{ path: [], message: 'must be an object, but is a number' }]],
    [{ either: 3 }, [{ path: ['either'], message: 'must be a string or a list, but is a number' }]],
    [{ either: [1, 'x'] }, [{ path: ['either', 1], message: 'must be an integer, but is a string' }]],
    [{ form: 'x' }, [{ path: ['form'], message: 'must be null or an object, but is a string' }]],
    [{ form: { kind: 'a', size: 1 } }, [{ path: ['form', 'size'], message: 'must be 2 or more' }]],
    [{ form: { kind: 'b', sizes: [1] } }, [{ path: ['form', 'sizes'], message: 'must have at least 2 items' }]],
    [{ form: { kind: 'c' } }, [{ path: ['form', 'kind'], message: 'must be one of a, b' }]],
    [{ form: {} }, [{ path: ['form', 'kind'], message: 'is missing and must be one of a, b' }]],
    [{ 'odd/name': 4 }, [{ path: ['odd/name'], message: 'must be 3' }]],
    [{ 'odd/nam': 4 }, [{ path: ['odd/nam'], message: 'is not a known key', hint: 'did you mean odd/name?' }]],
    [{ word: 'zz' }, [{ path: ['word'], message: 'must be one of left, right' }]],
    [{ word: 3 }, [{ path: ['word'], message: 'must be a string or null, but is a number' }]],
    [{ either: [Number.NaN] }, [{ path: ['either', 0], message: 'must be a finite number' }]],
    [
      { either: () => 1 },
      [{ path: ['either'], message: 'must be a string or a list, but is a value that JSON does not support' }],
    ],
  ])('explains %j', (value, issues) => {
    expect(explain(schema, value)).toEqual(issues);
  });

  it('restores the settings of TypeBox', () => {
    const before = Settings.Get().maxErrors;
    explain(schema, { a: 1 });
    expect(Settings.Get().maxErrors).toBe(before);
  });
});

it('explain reports an issue even if the errors of one union fill the error list', () => {
  const tool = Type.Object({ name: Type.String() });
  const forms = ['a', 'b'].map((type) => Type.Object({ type: Type.Literal(type), tools: Type.Array(tool, { maxItems: 10 }) }));
  const issues = explain(Type.Object({ toolset: Type.Union(forms) }), {
    toolset: { type: 'a', tools: Array.from({ length: 20_000 }, () => []) },
  });
  expect(issues).toHaveLength(1);
  expect(issues[0]?.path.slice(0, 2)).toEqual(['toolset', 'tools']);
});
