#version 460
// Several elementwise ops, as steps that follow each other: see lib/elementwise.glsl.
#define CHAIN
#include "lib/elementwise.glsl"
