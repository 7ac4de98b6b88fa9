import ArgumentParser

@main
struct Rivulet: ParsableCommand {}
