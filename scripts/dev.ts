import { type ChildProcess, spawn } from 'node:child_process';
import { join, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createServer, type ViteDevServer } from 'vite';

const help = `Runs the service and the page together for development.

  npm run dev                      the demo, with a fixed key
  npm run dev -- --config FILE     accepts every option of "parley serve"
  npm run dev:web                  only the components of the page in all their states, without a service

The service restarts when a file in src changes. The page shows a change immediately. The debugger port of the service is
9229. Ctrl-C ends both.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = join(root, 'src');

/** The key that the page stores. The proxy replaces it with the key of the demo, which is new at each start. */
const pageKey = 'dev';

/** Address of the service, as a proxy target of Vite. Changed in place when the service starts. */
const target = { protocol: 'http:', host: '127.0.0.1', port: 8080 };
let demoKey: string | undefined;

/** Runs the service, and restarts it after a change. */
class RestartingService {
  readonly #args: readonly string[];
  readonly #onLine: (line: string) => void;
  #child: ChildProcess | undefined;
  #isRestarting = false;
  #isStopping = false;

  constructor(args: readonly string[], onLine: (line: string) => void) {
    this.#args = args;
    this.#onLine = onLine;
  }

  start(): void {
    this.#isRestarting = false;
    const flags = ['--inspect', join(root, 'src/app/main.ts'), 'serve', ...this.#args];
    // Open streams would delay the next start.
    const environment = { PARLEY_LAME_DUCK_MS: '0', PARLEY_DRAIN_MS: '500', ...process.env };
    const child = spawn(process.execPath, flags, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    createInterface(child.stdout).on('line', this.#onLine);
    child.on('exit', () => {
      this.#child = undefined;
      if (this.#isRestarting) this.start();
      else if (!this.#isStopping) console.log('The service has ended. It restarts when a file in src changes.');
    });
  }

  restart(): void {
    if (this.#child === undefined) this.start();
    else if (!this.#isRestarting) {
      this.#isRestarting = true;
      this.#child.kill('SIGTERM');
    }
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#isRestarting = false;
    this.#isStopping = true;
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

/** Serves the page from its sources and proxies its requests to the service. */
async function servePage(): Promise<ViteDevServer> {
  const server = await createServer({
    configFile: join(root, 'web/vite.config.ts'),
    clearScreen: false,
    server: {
      proxy: {
        '^/(openai|v1|health)': {
          target,
          secure: false,
          bypass({ headers }) {
            if (headers['api-key'] === pageKey && demoKey !== undefined) headers['api-key'] = demoKey;
          },
        },
      },
    },
  });
  return server.listen();
}

const getAddress = ({ resolvedUrls }: ViteDevServer): string => resolvedUrls?.local[0] ?? '';

async function showComponents(): Promise<void> {
  const page = await servePage();
  console.log(`The components are on ${getAddress(page)}components/`);
  const end = (): void => void page.close().then(() => process.exit(0));
  process.on('SIGINT', end).on('SIGTERM', end);
}

async function develop(args: readonly string[]): Promise<void> {
  const page = await servePage();
  const pageAddress = getAddress(page);
  const service = new RestartingService(args, (line) => {
    console.log(line);
    const [, address] = /^Parley listens on (https?:\/\/[^\s,]+)/.exec(line) ?? [];
    if (address !== undefined) {
      const { protocol, hostname, port } = new URL(address);
      Object.assign(target, { protocol, host: hostname, port: Number(port) });
    }
    const [, key] = /\/#key=(\S+)$/.exec(line) ?? [];
    if (key !== undefined && demoKey === undefined) console.log(`The page with its key: ${pageAddress}#key=${pageKey}`);
    demoKey = key ?? demoKey;
  });
  console.log(`The page is on ${pageAddress}, its components on ${pageAddress}components/`);
  service.start();
  page.watcher.add(sources).on('change', (file) => {
    if (!file.startsWith(sources + sep) || file.includes('.test.')) return;
    console.log(`${file.slice(root.length)} has changed`);
    service.restart();
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await Promise.all([service.stop(signal), page.close()]);
    process.exit(0);
  };
  process.on('SIGINT', end).on('SIGTERM', end);
}

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) console.log(help);
else if (args.includes('--components')) await showComponents();
else await develop(args);
