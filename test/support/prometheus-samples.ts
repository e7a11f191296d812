/** One line of the Prometheus text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const sampleForm = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelForm = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** Parses the Prometheus text format 0.0.4 strictly. Throws on lines that a scraper would reject. */
export function readPrometheus(text: string): Sample[] {
  const types = new Map<string, string>();
  const seenKeys = new Set<string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('#')) {
      const [, kind, name = '', type = ''] = /^# (HELP|TYPE|UNIT) (\S+) (.*)$/.exec(line) ?? fail(line);
      if (kind === 'TYPE') {
        if (types.has(name)) fail(line);
        types.set(name, type);
      }
      continue;
    }
    const sample = readSample(line);
    const key = JSON.stringify([sample.name, sample.labels]);
    if (seenKeys.has(key)) fail(`twice: ${line}`);
    seenKeys.add(key);
    if (!types.has(sample.name) && types.get(sample.name.replace(/_(bucket|count|sum)$/, '')) !== 'histogram')
      fail(`no type: ${line}`);
    samples.push(sample);
  }
  checkHistograms(samples, types);
  return samples;
}

function readSample(line: string): Sample {
  const [, name = '', labelText = '', value = ''] = sampleForm.exec(line) ?? fail(line);
  const labels: Record<string, string> = {};
  labelForm.lastIndex = 0;
  while (labelForm.lastIndex < labelText.length) {
    const [, label = '', text = ''] = labelForm.exec(labelText) ?? fail(line);
    labels[label] = text;
  }
  const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
  return Number.isNaN(number) ? fail(line) : { name, labels, value: number };
}

function checkHistograms(samples: readonly Sample[], types: ReadonlyMap<string, string>): void {
  const bySeries = Map.groupBy(samples, ({ name, labels: { le: _, ...rest } }) => `${name}${JSON.stringify(rest)}`);
  for (const [name, type] of types) {
    if (type !== 'histogram') continue;
    for (const { labels, value } of samples.filter((sample) => sample.name === `${name}_count`)) {
      const buckets = bySeries.get(`${name}_bucket${JSON.stringify(labels)}`) ?? [];
      const counts = buckets.map((bucket) => bucket.value);
      if (buckets.at(-1)?.labels.le !== '+Inf' || counts.at(-1) !== value) fail(`${name}: the last bucket is not the count`);
      if (counts.some((count, index) => count < (counts[index - 1] ?? 0))) fail(`${name}: buckets shrink`);
    }
  }
}

function fail(what: string): never {
  throw new Error(`not Prometheus text: ${what}`);
}

/** Returns the value of the sample with these labels, or undefined without one. Throws if several samples match. */
export function readValue(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const matches = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  if (matches.length > 1) throw new Error(`${name} is ambiguous`);
  return matches[0]?.value;
}
