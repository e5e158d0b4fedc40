#include "guest/init.h"

int main() { igloo::guest::InitMain(); }
