#include "jail/stock.h"

#include "jail/trees.h"

namespace igloo::jail {
namespace {

int Take(int& fd) {
  const int taken = fd;
  fd = -1;
  return taken;
}

}  // namespace

void FillStock(Stock& stock) {
  for (unsigned i = 0; i < Stock::kMemories; ++i) stock.memory[i] = NewTmpfs(ops::kUsualMemory[i]);
  stock.proc = NewProc();
  stock.filled = true;
}

int TakeMemory(Stock& stock, const ops::Memory& wanted) {
  for (unsigned i = 0; stock.filled && i < Stock::kMemories; ++i) {
    if (stock.memory[i] >= 0 && ops::kUsualMemory[i] == wanted) return Take(stock.memory[i]);
  }
  return NewTmpfs(wanted);
}

int TakeProc(Stock& stock) {
  return stock.filled && stock.proc >= 0 ? Take(stock.proc) : NewProc();
}

}  // namespace igloo::jail
