/*
 * Load generator: one thread, epoll, one raw request from a file, keep-alive connections to a loopback port.
 *
 *   load closed  --port P --request FILE --connections C --warm-s W --duration-s D
 *   load rate    ... --rate R                        open loop: latency counts from the scheduled send time
 *   load streams ... --streams N --ramp R [--step M --settle-s S]   N streams opened at R per second and held for D seconds,
 *                                                    with a first pause at M streams
 *   all: --stream 1 expects event streams of at least --events E events and an end mark
 *
 * Prints JSON lines: {"mark":"…"} at the edges of a window, {"result":{…}} at the end. Latencies are in nanoseconds.
 */
#define _GNU_SOURCE
#include <stddef.h>

#include "http-bytes.h"
#include "reply.h"

enum step { STEP_FREE, STEP_CONNECT, STEP_SEND, STEP_RECEIVE };

struct connection {
  int fd;
  enum step step;
  size_t sent;
  uint64_t due, opened; /* due: time at which the request should be sent */
  int counted_first;
  struct reply reply;
};

struct numbers {
  uint64_t *values;
  size_t size, room;
};

static int epoll;
static struct sockaddr_in target;
static char *request, input[262144];
static size_t request_size;
static struct connection *connections;
static int connection_count, wants_stream, least_events, is_measuring, opened, first_seen, flowing;
static const char *mode;
static uint64_t replies, errors, reconnects, events_seen, window_start, window_end;
static char first_error[512];
static struct numbers latencies, first_chunks, relays;
static int *idle, idle_size;
static uint64_t *waiting, waiting_from, waiting_to; /* rate: due times without an idle connection */

static void add(struct numbers *n, uint64_t value) {
  if (n->size == n->room) n->values = realloc(n->values, sizeof(uint64_t) * (n->room = n->room ? n->room * 2 : 65536));
  n->values[n->size++] = value;
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void print_numbers(const char *name, struct numbers *n) {
  qsort(n->values, n->size, sizeof(uint64_t), by_value);
#define AT(share) (unsigned long long)(n->size ? n->values[(size_t)((double)(n->size - 1) * (share))] : 0)
  printf(",\"%s\":{\"count\":%zu,\"p50\":%llu,\"p90\":%llu,\"p99\":%llu,\"max\":%llu}", name, n->size, AT(0.5), AT(0.9), AT(0.99),
         AT(1.0));
}

static void mark(const char *name) {
  printf("{\"mark\":\"%s\"}\n", name);
  fflush(stdout);
}

static void fail(const char *why, const struct connection *c) {
  errors++;
  if (first_error[0]) return;
  const struct reply *r = c ? &c->reply : NULL;
  int size = snprintf(first_error, 200, "%s", why);
  if (r && r->status)
    size += snprintf(first_error + size, 300, "; status %d, %d events, %zu body bytes: %.*s", r->status, r->events, r->body_size,
                     (int)(r->kept_size < 200 ? r->kept_size : 200), r->kept);
  for (char *p = first_error; *p; p++)
    if ((unsigned char)*p < 32 || (unsigned char)*p > 126 || *p == '"' || *p == '\\') *p = '\'';
}

static void seen_stamp(uint64_t sent, uint64_t seen) {
  if (is_measuring) add(&relays, seen > sent ? seen - sent : 0);
}

static void watch(struct connection *c, uint32_t events, int how) {
  struct epoll_event event = {.events = events, .data.ptr = c};
  epoll_ctl(epoll, how, c->fd, &event);
}

static void push_out(struct connection *c) {
  while (c->sent < request_size) {
    ssize_t n = send(c->fd, request + c->sent, request_size - c->sent, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EAGAIN) {
        if (c->step != STEP_SEND) watch(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
        c->step = STEP_SEND;
      }
      return; /* another error appears as a closed connection on the next read */
    }
    c->sent += (size_t)n;
  }
  if (c->step == STEP_SEND || c->step == STEP_CONNECT) watch(c, EPOLLIN, EPOLL_CTL_MOD);
  c->step = STEP_RECEIVE;
}

static void connect_to(struct connection *c) {
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (c->fd < 0) {
    perror("load: socket");
    exit(1);
  }
  set_no_delay(c->fd);
  c->step = STEP_CONNECT;
  if (connect(c->fd, (struct sockaddr *)&target, sizeof target) && errno != EINPROGRESS) {
    perror("load: connect");
    exit(1);
  }
  watch(c, EPOLLOUT, EPOLL_CTL_ADD);
}

static void begin(struct connection *c, uint64_t due) {
  reply_reset(&c->reply);
  c->sent = 0;
  c->counted_first = 0;
  c->due = due;
  if (c->fd < 0) return connect_to(c);
  c->step = STEP_RECEIVE;
  push_out(c);
}

/*
 * Frees the connection. It then sends the next request in the closed loop, or the oldest waiting request at a rate, or is idle.
 */
static void next(struct connection *c) {
  c->step = STEP_FREE;
  if (mode[0] == 'c') begin(c, now_ns());
  else if (mode[0] == 'r') {
    if (waiting_from < waiting_to) begin(c, waiting[waiting_from++]);
    else idle[idle_size++] = (int)(c - connections);
  }
}

static void hang_up(struct connection *c) {
  close(c->fd);
  c->fd = -1;
}

static void finish(struct connection *c, uint64_t now) {
  const char *fault = reply_fault(&c->reply, wants_stream, least_events);
  if (fault) fail(fault, c);
  else if (mode[0] == 's') fail("a held stream ended", c);
  else if (mode[0] == 'r' ? c->due >= window_start && c->due < window_end : is_measuring) {
    replies++;
    events_seen += (uint64_t)c->reply.events;
    add(&latencies, now - c->due);
    if (wants_stream) add(&first_chunks, c->reply.first_event_ns - c->due);
  }
  if (c->reply.closes || c->reply.coding == BODY_UNTIL_CLOSE) {
    hang_up(c);
    reconnects++;
  }
  if (mode[0] == 's' && fault) hang_up(c);
  next(c);
}

static void lost(struct connection *c, const char *why) {
  int ends_body = c->reply.state == REPLY_BODY && c->reply.coding == BODY_UNTIL_CLOSE;
  if (ends_body) return finish(c, now_ns());
  hang_up(c);
  if (c->step == STEP_FREE) { /* an idle connection may close: its next request opens it again */
    reconnects++;
    return;
  }
  fail(why, c);
  if (errors > 1000) {
    fprintf(stderr, "load: more than 1000 errors, first: %s\n", first_error);
    printf("{\"result\":{\"errors\":%llu,\"firstError\":\"%s\"}}\n", (unsigned long long)errors, first_error);
    exit(1);
  }
  next(c);
}

static void receive(struct connection *c) {
  ssize_t n = recv(c->fd, input, sizeof input, 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) return lost(c, n < 0 ? strerror(errno) : "closed before a whole reply");
  uint64_t now = now_ns();
  int events = c->reply.events;
  if (!reply_feed(&c->reply, input, input + n, now, seen_stamp)) return lost(c, "bytes that are no HTTP reply");
  if (mode[0] == 's') {
    if (is_measuring) events_seen += (uint64_t)(c->reply.events - events);
    if (!c->counted_first && c->reply.events) {
      c->counted_first = 1;
      first_seen++;
      add(&first_chunks, c->reply.first_event_ns - c->due);
    }
  }
  if (c->reply.state == REPLY_WHOLE) finish(c, now);
}

static void handle(struct connection *c, uint32_t events) {
  if (c->step == STEP_CONNECT) {
    int fault = 0;
    socklen_t size = sizeof fault;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &fault, &size);
    if (fault) return lost(c, strerror(fault));
    return push_out(c);
  }
  if ((events & EPOLLOUT) && c->step == STEP_SEND) push_out(c);
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
}

static void run_until(uint64_t due) {
  struct epoll_event events[512];
  do {
    int n = wait_until(epoll, events, 512, due);
    for (int i = 0; i < n; i++) handle(events[i].data.ptr, events[i].events);
  } while (now_ns() < due);
}

static void open_window(void) {
  is_measuring = 1;
  mark("window-start");
}

static void close_window(void) {
  mark("window-end");
  is_measuring = 0;
}

static void run_closed(double warm_s, double duration_s) {
  for (int i = 0; i < connection_count; i++) begin(&connections[i], now_ns());
  run_until(now_ns() + (uint64_t)(warm_s * SECOND));
  window_start = now_ns();
  open_window();
  run_until(window_start + (uint64_t)(duration_s * SECOND));
  window_end = now_ns();
  close_window();
}

static void run_rate(double warm_s, double duration_s, double rate) {
  uint64_t start = now_ns();
  uint64_t total = (uint64_t)((warm_s + duration_s) * rate), warm = (uint64_t)(warm_s * rate);
  waiting = malloc(sizeof(uint64_t) * (total + 1));
  idle = malloc(sizeof(int) * (size_t)connection_count);
  for (int i = connection_count; i > 0; i--) idle[idle_size++] = i - 1;
  window_start = start + (uint64_t)((double)warm / rate * SECOND);
  window_end = start + (uint64_t)((double)total / rate * SECOND);
  for (uint64_t i = 0; i < total; i++) {
    uint64_t due = start + (uint64_t)((double)i / rate * SECOND);
    if (i == warm) open_window();
    run_until(due);
    if (idle_size) begin(&connections[idle[--idle_size]], due);
    else waiting[waiting_to++] = due;
  }
  run_until(window_end);
  close_window();
  for (int grace = 0; grace < 50 && idle_size < connection_count; grace++) run_until(now_ns() + SECOND / 20);
  for (uint64_t i = replies + errors; i < total - warm; i++) fail("not answered within 2.5 s of the end", NULL);
}

static void ramp(int upto, double rate) {
  uint64_t start = now_ns();
  for (int from = opened; opened < upto; opened++) {
    uint64_t due = start + (uint64_t)((double)(opened - from) / rate * SECOND);
    run_until(due);
    begin(&connections[opened], due);
  }
}

static void run_streams(double duration_s, double rate, int step, double settle_s) {
  if (step) {
    ramp(step, rate);
    run_until(now_ns() + (uint64_t)(settle_s * SECOND));
    mark("step-start");
    run_until(now_ns() + (uint64_t)(2 * SECOND));
    mark("step-end");
  }
  ramp(connection_count, rate);
  run_until(now_ns() + (uint64_t)(settle_s * SECOND));
  flowing = first_seen;
  window_start = now_ns();
  open_window();
  run_until(window_start + (uint64_t)(duration_s * SECOND));
  window_end = now_ns();
  close_window();
  for (int i = 0; i < connection_count; i++) /* streams without a first chunk have waited at least until now */
    if (!connections[i].counted_first) add(&first_chunks, window_end - connections[i].due);
}

static const char *word(int count, char **words, const char *name, const char *otherwise) {
  for (int i = 2; i + 1 < count; i += 2)
    if (strcmp(words[i], name) == 0) return words[i + 1];
  if (otherwise) return otherwise;
  fprintf(stderr, "load: %s is missing\n", name);
  exit(2);
}

static void read_request(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  request_size = (size_t)ftell(file);
  rewind(file);
  request = malloc(request_size + 1);
  if (fread(request, 1, request_size, file) != request_size) exit(2);
  fclose(file);
}

int main(int count, char **words) {
  if (count < 2) return fprintf(stderr, "load: closed, rate or streams?\n"), 2;
#define NUMBER(name, otherwise) atof(word(count, words, name, otherwise))
  prepare_process();
  mode = words[1];
  epoll = epoll_create1(EPOLL_CLOEXEC);
  target = loopback((int)NUMBER("--port", NULL));
  read_request(word(count, words, "--request", NULL));
  wants_stream = (int)NUMBER("--stream", "0");
  least_events = (int)NUMBER("--events", "0");
  connection_count = (int)NUMBER(mode[0] == 's' ? "--streams" : "--connections", NULL);
  connections = calloc((size_t)connection_count, sizeof *connections);
  for (int i = 0; i < connection_count; i++) connections[i].fd = -1;
  double warm_s = NUMBER("--warm-s", "0"), duration_s = NUMBER("--duration-s", NULL);
  if (mode[0] == 'c') run_closed(warm_s, duration_s);
  else if (mode[0] == 'r') run_rate(warm_s, duration_s, NUMBER("--rate", NULL));
  else run_streams(duration_s, NUMBER("--ramp", NULL), (int)NUMBER("--step", "0"), NUMBER("--settle-s", "1"));
  printf("{\"result\":{\"seconds\":%.6f,\"replies\":%llu,\"errors\":%llu,\"reconnects\":%llu,\"events\":%llu,\"flowing\":%d",
         (double)(window_end - window_start) / SECOND, (unsigned long long)replies, (unsigned long long)errors,
         (unsigned long long)reconnects, (unsigned long long)events_seen, flowing);
  print_numbers("latency", &latencies);
  print_numbers("firstChunk", &first_chunks);
  print_numbers("relay", &relays);
  printf(",\"firstError\":\"%s\"}}\n", first_error);
  return errors ? 1 : 0;
}
