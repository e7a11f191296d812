/*
 * A fast model endpoint: HTTP/1.1, keep-alive, one thread, epoll. Paths that end in /messages use the Messages dialect, paths that
 * end in /responses use the Responses API. All other paths use the chat completions of OpenAI.
 *
 *   upstream PORT:CHUNKS:INTERVAL_US ...
 *
 * Each port has its own manner of streaming. INTERVAL_US 0 sends CHUNKS content chunks immediately, in one write if the socket
 * accepts it. Otherwise it sends one chunk per interval, and CHUNKS 0 continues until the client disconnects. A paced chunk has "@t="
 * and the monotonic nanosecond of its writing in 20 digits. A body with "stream":true receives a stream. Any other body receives one
 * JSON reply of 1 kB. Without `Authorization: Bearer sk-upstream`, or `sk-upstream` in `Api-Key` or `x-api-key`, the answer is 401.
 * The program prints "ready" when all ports listen. It ends when its standard input closes.
 */
#define _GNU_SOURCE
#include "http-bytes.h"

#define HEAD_MAX 16384
#define SCAN_MAX 65536
#define TEXT_SIZE 24

enum dialect { CHAT, MESSAGES, RESPONSES, DIALECTS };

/* The replies of one dialect: a complete reply, and a stream as its start, a chunk, and its end. */
struct replies {
  char unary[4096], head[2048], chunk[512], tail[2048];
  size_t unary_size, head_size, chunk_size, tail_size, time_at;
};

struct listener {
  int listening; /* always 1: distinguishes a listener from a connection in an event */
  int fd, chunks;
  uint64_t interval;
  char *burst[DIALECTS]; /* a complete unpaced stream */
  size_t burst_size[DIALECTS];
};

struct connection {
  int listening; /* always 0 */
  int fd;
  struct listener *listener;
  enum dialect dialect;
  char head[HEAD_MAX];
  size_t head_size, body_left, scanned;
  struct chunked chunked;
  int in_body, is_chunked, wants_stream, allowed, keeps_alive;
  char tail[TEXT_SIZE];
  size_t tail_size;
  char *out;
  size_t out_size, out_at;
  uint64_t due;
  int heap_at, chunks_left;
};

static int epoll;
static char input[262144];
static struct connection **heap;
static int heap_size, heap_room;
static struct replies replies[DIALECTS];

static const char *const denied =
    "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: 46\r\n\r\n"
    "{\"error\":{\"message\":\"no key\",\"code\":\"denied\"}}";

/* Adds an event in a separate HTTP chunk. Returns the new size. */
static size_t add_event(char *to, size_t at, size_t room, const char *event) {
  return at + (size_t)snprintf(to + at, room - at, "%x\r\n%s\r\n", (unsigned)strlen(event), event);
}

/* Adds a chunk of the OpenAI API. Returns the new size. */
static size_t add_chat(char *to, size_t at, size_t room, const char *delta, const char *finish) {
  char event[1024];
  snprintf(event, sizeof event,
           "data: {\"id\":\"chatcmpl-bench00000000000000000001\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,"
           "\"model\":\"upstream-model\",\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}]}\n\n",
           delta, finish);
  return add_event(to, at, room, event);
}

/* Adds an event of the Messages dialect, whose fields follow its type. Returns the new size. */
static size_t add_message(char *to, size_t at, size_t room, const char *type, const char *fields) {
  char event[1024];
  snprintf(event, sizeof event, "event: %s\ndata: {\"type\":\"%s\"%s}\n\n", type, type, fields);
  return add_event(to, at, room, event);
}

static const char *const stamped = "@t=00000000000000000000 of the words of a reply,";

static void build_chat(struct replies *r) {
  char delta[128];
  snprintf(delta, sizeof delta, "{\"content\":\"%s\"}", stamped);
  r->head_size = add_chat(r->head, r->head_size, sizeof r->head, "{\"role\":\"assistant\",\"content\":\"\"}", "null");
  r->chunk_size = add_chat(r->chunk, 0, sizeof r->chunk, delta, "null");
  r->tail_size = add_chat(r->tail, 0, sizeof r->tail, "{}", "\"stop\"");
  r->tail_size = add_event(r->tail, r->tail_size, sizeof r->tail,
                           "data: {\"id\":\"chatcmpl-bench00000000000000000001\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,"
                           "\"model\":\"upstream-model\",\"choices\":[],"
                           "\"usage\":{\"prompt_tokens\":200,\"completion_tokens\":150,\"total_tokens\":350}}\n\n");
  r->tail_size = add_event(r->tail, r->tail_size, sizeof r->tail, "data: [DONE]\n\n");
}

static void build_messages(struct replies *r) {
  char fields[256];
  snprintf(fields, sizeof fields, ",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}", stamped);
  r->head_size = add_message(r->head, r->head_size, sizeof r->head, "message_start",
                             ",\"message\":{\"id\":\"msg_bench000000000000000001\",\"type\":\"message\",\"role\":\"assistant\","
                             "\"model\":\"upstream-model\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,"
                             "\"usage\":{\"input_tokens\":200,\"output_tokens\":1}}");
  r->head_size = add_message(r->head, r->head_size, sizeof r->head, "content_block_start",
                             ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}");
  r->chunk_size = add_message(r->chunk, 0, sizeof r->chunk, "content_block_delta", fields);
  r->tail_size = add_message(r->tail, 0, sizeof r->tail, "content_block_stop", ",\"index\":0");
  r->tail_size = add_message(r->tail, r->tail_size, sizeof r->tail, "message_delta",
                             ",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":150}");
  r->tail_size = add_message(r->tail, r->tail_size, sizeof r->tail, "message_stop", "");
}

/* Adds an event of the Responses API, whose fields follow its number. Returns the new size. */
static size_t add_response(char *to, size_t at, size_t room, const char *type, int number, const char *fields) {
  char all[1024];
  snprintf(all, sizeof all, ",\"sequence_number\":%d%s", number, fields);
  return add_message(to, at, room, type, all);
}

#define RESPONSE(status, output, usage) \
  ",\"response\":{\"id\":\"resp_bench000000000000000001\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"" status \
  "\",\"model\":\"upstream-model\",\"output\":[" output "],\"usage\":" usage "}"
#define MESSAGE(status, content) \
  "{\"type\":\"message\",\"id\":\"msg_bench01\",\"status\":\"" status "\",\"role\":\"assistant\",\"content\":[" content "]}"
#define TEXT(text) "{\"type\":\"output_text\",\"text\":\"" text "\",\"annotations\":[],\"logprobs\":[]}"
#define PLACE ",\"item_id\":\"msg_bench01\",\"output_index\":0,\"content_index\":0"
#define COUNTS \
  "{\"input_tokens\":200,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":150," \
  "\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":350}"

static void build_responses(struct replies *r) {
  char fields[256];
  snprintf(fields, sizeof fields, PLACE ",\"delta\":\"%s\",\"logprobs\":[]", stamped);
  size_t at = r->head_size;
  at = add_response(r->head, at, sizeof r->head, "response.created", 0, RESPONSE("in_progress", "", "null"));
  at = add_response(r->head, at, sizeof r->head, "response.output_item.added", 1, ",\"output_index\":0,\"item\":" MESSAGE("in_progress", ""));
  r->head_size = add_response(r->head, at, sizeof r->head, "response.content_part.added", 2, PLACE ",\"part\":" TEXT(""));
  r->chunk_size = add_response(r->chunk, 0, sizeof r->chunk, "response.output_text.delta", 3, fields);
  at = add_response(r->tail, 0, sizeof r->tail, "response.output_text.done", 103, PLACE ",\"text\":\"words\",\"logprobs\":[]");
  at = add_response(r->tail, at, sizeof r->tail, "response.content_part.done", 104, PLACE ",\"part\":" TEXT("words"));
  at = add_response(r->tail, at, sizeof r->tail, "response.output_item.done", 105,
                    ",\"output_index\":0,\"item\":" MESSAGE("completed", TEXT("words")));
  at = add_response(r->tail, at, sizeof r->tail, "response.completed", 106,
                    RESPONSE("completed", MESSAGE("completed", TEXT("words")), COUNTS));
  r->tail_size = add_event(r->tail, at, sizeof r->tail, "data: [DONE]\n\n");
}

static const char *const whole[DIALECTS] = {
    "{\"id\":\"chatcmpl-bench00000000000000000001\",\"object\":\"chat.completion\",\"created\":1790000000,\"model\":\"upstream-model\","
    "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%s\"},\"logprobs\":null,\"finish_reason\":\"stop\"}],"
    "\"usage\":{\"prompt_tokens\":200,\"completion_tokens\":150,\"total_tokens\":350}}",
    "{\"id\":\"msg_bench000000000000000001\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"upstream-model\","
    "\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,"
    "\"usage\":{\"input_tokens\":200,\"output_tokens\":150}}",
    "{\"id\":\"resp_bench000000000000000001\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"completed\","
    "\"model\":\"upstream-model\",\"output\":[" MESSAGE("completed", TEXT("%s")) "],\"usage\":" COUNTS "}",
};

static void build_replies(void) {
  char text[701];
  for (int i = 0; i < 700; i++) text[i] = "benchmark words in a reply "[i % 27];
  text[700] = 0;
  for (int dialect = 0; dialect < DIALECTS; dialect++) {
    struct replies *r = &replies[dialect];
    char body[2048];
    int size = snprintf(body, sizeof body, whole[dialect], text);
    r->unary_size = (size_t)snprintf(r->unary, sizeof r->unary,
                                     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", size, body);
    r->head_size = (size_t)snprintf(r->head, sizeof r->head,
                                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
                                    "Transfer-Encoding: chunked\r\n\r\n");
    (dialect == CHAT ? build_chat : dialect == MESSAGES ? build_messages : build_responses)(r);
    r->time_at = (size_t)(strstr(r->chunk, "@t=") + 3 - r->chunk);
    r->tail_size += (size_t)snprintf(r->tail + r->tail_size, sizeof r->tail - r->tail_size, "0\r\n\r\n");
  }
}

static void watch(struct connection *c, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = c};
  epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &event);
}

static void heap_swap(int a, int b) {
  struct connection *c = heap[a];
  heap[a] = heap[b];
  heap[b] = c;
  heap[a]->heap_at = a;
  heap[b]->heap_at = b;
}

static void heap_settle(int at) {
  while (at > 0 && heap[at]->due < heap[(at - 1) / 2]->due) {
    heap_swap(at, (at - 1) / 2);
    at = (at - 1) / 2;
  }
  for (;;) {
    int least = at, left = 2 * at + 1;
    if (left < heap_size && heap[left]->due < heap[least]->due) least = left;
    if (left + 1 < heap_size && heap[left + 1]->due < heap[least]->due) least = left + 1;
    if (least == at) return;
    heap_swap(at, least);
    at = least;
  }
}

static void heap_add(struct connection *c) {
  if (heap_size == heap_room) heap = realloc(heap, sizeof *heap * (size_t)(heap_room = heap_room ? heap_room * 2 : 1024));
  c->heap_at = heap_size;
  heap[heap_size++] = c;
  heap_settle(c->heap_at);
}

static void heap_remove(struct connection *c) {
  int at = c->heap_at;
  if (at < 0) return;
  if (at != --heap_size) {
    heap[at] = heap[heap_size];
    heap[at]->heap_at = at;
    heap_settle(at);
  }
  c->heap_at = -1;
}

static void drop(struct connection *c) {
  heap_remove(c);
  close(c->fd);
  free(c->out);
  free(c);
}

/* Writes what the socket accepts and stores the rest. Returns 0 if the connection is closed (and dropped). */
static int put(struct connection *c, const char *bytes, size_t size) {
  size_t done = 0;
  if (!c->out) {
    ssize_t n = send(c->fd, bytes, size, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) return drop(c), 0;
    done = n > 0 ? (size_t)n : 0;
    if (done == size) return 1;
  }
  size_t kept = c->out ? c->out_size - c->out_at : 0, left = size - done;
  char *out = malloc(kept + left);
  if (kept) memcpy(out, c->out + c->out_at, kept);
  memcpy(out + kept, bytes + done, left);
  free(c->out);
  c->out = out;
  c->out_at = 0;
  c->out_size = kept + left;
  watch(c, EPOLLIN | EPOLLOUT);
  return 1;
}

static int flush(struct connection *c) {
  if (!c->out) return 1;
  ssize_t n = send(c->fd, c->out + c->out_at, c->out_size - c->out_at, MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN ? 1 : (drop(c), 0);
  c->out_at += (size_t)n;
  if (c->out_at < c->out_size) return 1;
  free(c->out);
  c->out = NULL;
  watch(c, EPOLLIN);
  return 1;
}

static int answer(struct connection *c) {
  struct listener *l = c->listener;
  struct replies *r = &replies[c->dialect];
  if (!c->allowed) return put(c, denied, strlen(denied));
  if (!c->wants_stream) return put(c, r->unary, r->unary_size);
  if (l->interval == 0) return put(c, l->burst[c->dialect], l->burst_size[c->dialect]);
  c->chunks_left = l->chunks ? l->chunks : -1;
  c->due = now_ns() + 1 + (uint64_t)rand() % l->interval;
  if (!put(c, r->head, r->head_size)) return 0;
  heap_add(c);
  return 1;
}

static void send_due(uint64_t now) {
  while (heap_size && heap[0]->due <= now) {
    struct connection *c = heap[0];
    struct replies *r = &replies[c->dialect];
    if (c->chunks_left == 0) {
      heap_remove(c);
      put(c, r->tail, r->tail_size);
      continue;
    }
    if (c->chunks_left > 0) c->chunks_left--;
    c->due += c->listener->interval;
    heap_settle(0);
    if (c->out) continue; /* the reader is slow: this chunk is omitted, which lowers its count */
    char digits[21];
    snprintf(digits, sizeof digits, "%020llu", (unsigned long long)now_ns());
    memcpy(r->chunk + r->time_at, digits, 20);
    put(c, r->chunk, r->chunk_size);
  }
}

/* Searches a span of the body for "stream":true. Up to TEXT_SIZE bytes of the previous span are stored. */
static void scan(struct connection *c, const char *bytes, size_t size) {
  if (c->wants_stream || c->scanned >= SCAN_MAX) return;
  c->scanned += size;
  static char joined[sizeof input + TEXT_SIZE];
  memcpy(joined, c->tail, c->tail_size);
  memcpy(joined + c->tail_size, bytes, size);
  size_t all = c->tail_size + size;
  const char *end = joined + all, *at = joined;
  while ((at = memmem(at, (size_t)(end - at), "\"stream\"", 8))) {
    at += 8;
    const char *p = at;
    while (p < end && (*p == ' ' || *p == ':')) p++;
    if (end - p >= 4 && memcmp(p, "true", 4) == 0) c->wants_stream = 1;
  }
  c->tail_size = all < TEXT_SIZE ? all : TEXT_SIZE;
  memcpy(c->tail, end - c->tail_size, c->tail_size);
}

static int begin_body(struct connection *c) {
  const char *length = header_value(c->head, c->head_size, "content-length:");
  const char *coding = header_value(c->head, c->head_size, "transfer-encoding:");
  const char *key = header_value(c->head, c->head_size, "authorization:");
  c->allowed = key && strncasecmp(key, "Bearer sk-upstream\r", 19) == 0;
  if (!key && !(key = header_value(c->head, c->head_size, "api-key:"))) key = header_value(c->head, c->head_size, "x-api-key:");
  if (!c->allowed && key) c->allowed = strncmp(key, "sk-upstream\r", 12) == 0;
  const char *line_end = memchr(c->head, '\r', c->head_size);
  size_t line_size = line_end ? (size_t)(line_end - c->head) : 0;
  c->dialect = memmem(c->head, line_size, "/messages ", 10)     ? MESSAGES
               : memmem(c->head, line_size, "/responses ", 11) ? RESPONSES
                                                                : CHAT;
  c->is_chunked = coding && strncasecmp(coding, "chunked", 7) == 0;
  c->body_left = length ? strtoull(length, NULL, 10) : 0;
  c->wants_stream = 0;
  c->scanned = c->tail_size = 0;
  memset(&c->chunked, 0, sizeof c->chunked);
  c->in_body = 1;
  return 1;
}

/* Feeds bytes to a request. Returns 0 if the connection was dropped. */
static int feed(struct connection *c, const char *at, const char *end) {
  for (;;) {
    if (!c->in_body) {
      if (at == end) return 1;
      size_t before = c->head_size, size = (size_t)(end - at);
      if (size > HEAD_MAX - before) size = HEAD_MAX - before;
      memcpy(c->head + before, at, size);
      size_t from = before > 3 ? before - 3 : 0;
      char *blank = memmem(c->head + from, before + size - from, "\r\n\r\n", 4);
      if (!blank && before + size == HEAD_MAX) return drop(c), 0;
      c->head_size = blank ? (size_t)(blank + 4 - c->head) : before + size;
      at += c->head_size - before;
      if (!blank) return 1;
      begin_body(c);
    }
    if (c->is_chunked) {
      const char *span;
      size_t size;
      enum chunk_result r;
      while ((r = next_chunk_span(&c->chunked, &at, end, &span, &size)) == CHUNK_SPAN) scan(c, span, size);
      if (r == CHUNK_MORE) return 1;
      if (r == CHUNK_BAD) return drop(c), 0;
    } else {
      size_t size = (size_t)(end - at) < c->body_left ? (size_t)(end - at) : c->body_left;
      scan(c, at, size);
      at += size;
      c->body_left -= size;
      if (c->body_left) return 1;
    }
    c->in_body = 0;
    c->head_size = 0;
    if (!answer(c)) return 0;
  }
}

static void receive(struct connection *c) {
  for (int turn = 0; turn < 16; turn++) {
    int discards = c->in_body && !c->is_chunked && c->scanned >= SCAN_MAX;
    size_t want = discards && c->body_left < (1u << 20) ? c->body_left : discards ? 1u << 20 : sizeof input;
    ssize_t n = recv(c->fd, discards ? NULL : input, want, discards ? MSG_TRUNC : 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return drop(c);
    if (discards) {
      c->body_left -= (size_t)n;
      if (c->body_left == 0 && !feed(c, input, input)) return;
    } else if (!feed(c, input, input + n)) return;
    if ((size_t)n < want) return;
  }
}

static void accept_all(struct listener *l) {
  for (;;) {
    int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    set_no_delay(fd);
    struct connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    c->listener = l;
    c->heap_at = -1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }
}

static struct listener *listen_on(const char *plan) {
  struct listener *l = calloc(1, sizeof *l);
  int port;
  unsigned long long interval;
  if (sscanf(plan, "%d:%d:%llu", &port, &l->chunks, &interval) != 3) {
    fprintf(stderr, "upstream: '%s' is not PORT:CHUNKS:INTERVAL_US\n", plan);
    exit(2);
  }
  l->listening = 1;
  l->interval = interval * 1000;
  l->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int on = 1;
  setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = loopback(port);
  if (bind(l->fd, (struct sockaddr *)&address, sizeof address) || listen(l->fd, 4096)) {
    perror("upstream: listen");
    exit(1);
  }
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
  epoll_ctl(epoll, EPOLL_CTL_ADD, l->fd, &event);
  for (int dialect = 0; dialect < DIALECTS && l->interval == 0; dialect++) {
    struct replies *r = &replies[dialect];
    char *to = l->burst[dialect] = malloc(r->head_size + r->chunk_size * (size_t)l->chunks + r->tail_size);
    to = mempcpy(to, r->head, r->head_size);
    for (int i = 0; i < l->chunks; i++) to = mempcpy(to, r->chunk, r->chunk_size);
    to = mempcpy(to, r->tail, r->tail_size);
    l->burst_size[dialect] = (size_t)(to - l->burst[dialect]);
  }
  return l;
}

int main(int count, char **words) {
  prepare_process();
  epoll = epoll_create1(EPOLL_CLOEXEC);
  build_replies();
  for (int i = 1; i < count; i++) listen_on(words[i]);
  struct listener parent = {.listening = 2, .fd = 0};
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &parent};
  epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
  printf("ready\n");
  fflush(stdout);
  struct epoll_event events[512];
  for (;;) {
    int n = wait_until(epoll, events, 512, heap_size ? heap[0]->due : UINT64_MAX);
    for (int i = 0; i < n; i++) {
      struct listener *l = events[i].data.ptr;
      if (l->listening == 2) {
        char ignored[256];
        if (read(0, ignored, sizeof ignored) <= 0) return 0;
      } else if (l->listening) accept_all(l);
      else {
        struct connection *c = events[i].data.ptr;
        if ((events[i].events & EPOLLOUT) && !flush(c)) continue;
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
      }
    }
    if (heap_size) send_due(now_ns());
  }
}
