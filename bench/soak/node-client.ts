import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface RequestOptions {
  readonly path: string;
  /** Default: POST with a body, GET without one. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON. */
  readonly body?: object | string;
}

export interface NodeResponse {
  readonly status: number;
  readonly text: string;
  readonly json: () => unknown;
}

/** A client of a node with keep-alive connections. */
export class NodeClient {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  /** Returns a signed token of a user. */
  readonly token: (user: string) => Promise<string>;

  constructor(port: number, token: (user: string) => Promise<string>) {
    this.#port = port;
    this.token = token;
  }

  async send(options: RequestOptions): Promise<NodeResponse> {
    const response = await this.#open(options);
    const text = (await buffer(response)).toString();
    return { status: response.statusCode ?? 0, text, json: () => JSON.parse(text) as unknown };
  }

  /** Reads the start of a stream and disconnects. Returns the status. */
  async sendAndDisconnect(options: RequestOptions): Promise<number> {
    const response = await this.#open(options);
    for await (const _piece of response) break;
    response.destroy();
    return response.statusCode ?? 0;
  }

  close(): void {
    this.#agent.destroy();
  }

  #open({ path, headers, body, method = body === undefined ? 'GET' : 'POST' }: RequestOptions): Promise<IncomingMessage> {
    const payload = typeof body === 'object' ? JSON.stringify(body) : body;
    const sized =
      payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) };
    return new Promise((resolve, reject) => {
      const clientRequest = request(
        { host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, headers: { ...sized, ...headers } },
        resolve,
      );
      clientRequest.on('error', reject).end(payload);
    });
  }
}
