//=== hello
console.log(1); throw new Error("x")
