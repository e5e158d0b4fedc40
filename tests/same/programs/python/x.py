#=== hello
import sys
print("hi")
print("e", file=sys.stderr)
1/0
