"""The workloads of workloads.heddle in Python: python3 workloads.py NAME SIZE"""
import io
import sys
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def tak(x, y, z):
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) if y < x else z


def loop(n):
    x = i = 0
    while i < n:
        x += 1
        i += 1
    return x


def append(n):
    out = io.StringIO()
    for _ in range(n):
        out.write("x")
    return len(out.getvalue())


def naive(n):
    s = ""
    for _ in range(n):
        s = s + "x"
    return len(s)


def descend(n):
    return 0 if n == 0 else 1 + descend(n - 1)


def build(n):
    xs = None
    for i in range(n):
        xs = (i, xs)
    return xs


def rest(_):
    xs, count = numbers, 0
    while xs is not None:
        xs = xs[1]
        count += 1
    return count


run = {
    "fib": fib,
    "tak": lambda n: [tak(18, 12, 6) for _ in range(n)][-1],
    "loop": loop,
    "map": lambda n: sum(map(lambda x: 2 * x + 1, list(range(n)))),
    "append": append,
    "naive": naive,
    "deep": descend,
    "cons": lambda n: build(n)[0],
    "rest": rest,
}

name, size = sys.argv[1], int(sys.argv[2])
sys.setrecursionlimit(2_000_000)
numbers = build(size) if name == "rest" else None
began = time.process_time()
result = run[name](size)
print(result, f"{time.process_time() - began:.6f}", flush=True)
