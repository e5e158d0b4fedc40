// igloo-attack battery: many attacks, one after the other, from one sandbox. Their words come on
// standard input, so that no command line inside holds what the attacks look for.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

constexpr size_t kMostText = 1U << 16;
constexpr int kMostWords = 16;
constexpr unsigned kSeconds = 20;

char g_text[kMostText];

size_t ReadAll() {
  size_t size = 0;
  for (;;) {
    const ssize_t count = read(0, g_text + size, kMostText - size);
    if (count < 0) Broken("standard input");
    if (count == 0) return size;
    size += static_cast<size_t>(count);
    if (size == kMostText) Broken("the battery is too long");
  }
}

/// The words of one attack, each with a zero byte behind it, and one more behind the last.
struct Order {
  char* words[kMostWords];
  int count = 0;
};

bool Next(size_t& at, size_t size, Order& order) {
  order.count = 0;
  while (at < size && g_text[at] != '\0') {
    if (order.count == kMostWords) Broken("too many words");
    order.words[order.count++] = g_text + at;
    while (at < size && g_text[at] != '\0') ++at;
    if (at == size) Broken("the battery is cut off");
    ++at;
  }
  ++at;
  return order.count > 0;
}

int RunOne(const Order& order) {
  const pid_t child = fork();
  if (child < 0) Broken("fork");
  if (child == 0) {
    alarm(kSeconds);
    const Function attack = Find(order.words[0]);
    errno = 0;
    _exit(attack({order.count - 1, const_cast<char**>(order.words) + 1}));
  }
  return ExitOf(child);
}

}  // namespace

int RunBattery() {
  // What an attack says stands before its verdict, in one stream.
  if (dup2(1, 2) != 2) Broken("dup2");
  const size_t size = ReadAll();
  size_t at = 0;
  Order order;
  for (int index = 0; Next(at, size, order); ++index) {
    const int code = RunOne(order);
    dprintf(1, "@ %d %d\n", index, code);
  }
  return 0;
}

}  // namespace igloo::attack
