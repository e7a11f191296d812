import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How Node tells of requests, by their `Expect`. */
const requests = ['request', 'checkContinue', 'checkExpectation'] as const;

/** The connections of a server, of which each answer of a node that stops says that it is the last: clients do not send on one that is about to close. */
export class KeptConnections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** `server` must not listen yet. */
  constructor(server: Server) {
    this.#server = server;
    const keep = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    };
    server.on('connection', keep);
    server.on('secureConnection', keep);
  }

  /** From now on each connection closes behind its next answer; answers under way are included if their head has not gone out. */
  closeBehindAnswers(): void {
    for (const event of requests) {
      if (this.#server.listenerCount(event) === 0) continue;
      this.#server.prependListener(event, (_request: unknown, response: ServerResponse) => {
        response.shouldKeepAlive = false;
      });
    }
    for (const socket of this.#sockets) {
      const response = answerUnderWay(socket);
      if (response?.headersSent === false) response.shouldKeepAlive = false;
    }
  }
}

/** Node keeps it there, and tells of it nowhere else. */
function answerUnderWay(socket: Socket): Partial<Pick<ServerResponse, 'headersSent' | 'shouldKeepAlive'>> | undefined {
  return Reflect.get(socket, '_httpMessage') ?? undefined;
}
